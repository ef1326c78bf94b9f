# SPDX-License-Identifier: GPL-2.0-only
KDIR ?= /lib/modules/$(shell uname -r)/build

modules:
	mkdir -p build/module
	$(MAKE) -C $(KDIR) M=$(CURDIR) MO=$(CURDIR)/build/module modules
