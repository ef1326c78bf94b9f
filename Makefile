# SPDX-License-Identifier: GPL-2.0-only
#
#	make            the module, for the running kernel (or KDIR=…)
#	make demo       the main job on the modelled machine
#	make check      all tests
# Both set up all that they need, as root on Debian 12 or 13; slow products are kept in
# /var/cache/pmon (or PMON_CACHE).

KDIR ?= /lib/modules/$(shell uname -r)/build
MO ?= $(CURDIR)/build/module
DESTDIR ?=
PREFIX ?= /usr/local
TARGET_DIR ?= $(CURDIR)/build/target
CACHE := $(or $(PMON_CACHE),/var/cache/pmon)

modules:
	@tests/can-build $(KDIR)
	@mkdir -p $(MO)
	$(MAKE) -C $(KDIR) M=$(CURDIR) MO=$(MO) modules

user:
	cd userspace && CARGO_TARGET_DIR=$(TARGET_DIR) cargo build --release --locked -p pmonread

install: modules user
	$(MAKE) -C $(KDIR) M=$(CURDIR) MO=$(MO) INSTALL_MOD_PATH=$(DESTDIR) modules_install
	install -D -m 755 $(TARGET_DIR)/release/pmonread $(DESTDIR)$(PREFIX)/bin/pmonread
	install -D -m 644 include/uapi/linux/pmon.h $(DESTDIR)$(PREFIX)/include/linux/pmon.h

demo:
	@tests/demo/run

check:
	@tests/check

# The parts of `make check` that need no machine: formats, lints, host tests.
check-host:
	@tests/check host

clean:
	rm -rf build

# Also what `demo` and `check` keep between runs.
distclean: clean
	rm -rf --one-file-system $(CACHE)

.PHONY: modules user install demo check check-host clean distclean
