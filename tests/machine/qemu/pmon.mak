# SPDX-License-Identifier: GPL-2.0-only
# The devices of the modelled machine, and no others.
CONFIG_Q35=y
CONFIG_HPET=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
