// SPDX-License-Identifier: GPL-2.0-only

//! Registration of a misc device with poll(), which the kernel crate's has not.

use kernel::{
    bindings,
    error::to_result,
    fs::File,
    miscdevice::{
        MiscDevice,
        MiscDeviceOptions, //
    },
    prelude::*,
    sync::poll::PollTable,
    types::{
        ForeignOwnable,
        Opaque, //
    }, //
};

/// A misc device that can be polled.
pub(crate) trait PollDevice: MiscDevice {
    /// Registers the caller as a waiter; returns `POLL*` bits.
    fn poll(
        device: <Self::Ptr as ForeignOwnable>::Borrowed<'_>,
        file: &File,
        table: PollTable<'_>,
    ) -> u32;
}

unsafe extern "C" fn poll<T: PollDevice>(
    file: *mut bindings::file,
    table: *mut bindings::poll_table_struct,
) -> bindings::__poll_t {
    // SAFETY: `private_data` is what the vtable's open made of a `T::Ptr`; file and table are valid
    // for this call.
    let (device, file, table) = unsafe {
        (
            <T::Ptr as ForeignOwnable>::borrow((*file).private_data),
            File::from_raw_file(file),
            PollTable::from_raw(table),
        )
    };
    T::poll(device, file, table)
}

/// A registered device.
#[pin_data(PinnedDrop)]
pub(crate) struct Registration {
    #[pin]
    device: Opaque<bindings::miscdevice>,
    fops: KBox<bindings::file_operations>,
}

// SAFETY: misc_deregister() may run on any thread.
unsafe impl Send for Registration {}
// SAFETY: there are no methods that take `&self`.
unsafe impl Sync for Registration {}

impl Registration {
    /// Registers `/dev/<name>`, mode 0600.
    pub(crate) fn new<T: PollDevice>(options: MiscDeviceOptions) -> impl PinInit<Self, Error> {
        let raw = options.into_raw::<T>();
        try_pin_init!(&this in Self {
            fops: KBox::new(
                // SAFETY: `into_raw` sets `fops` to a constant table.
                bindings::file_operations { poll: Some(poll::<T>), ..unsafe { *raw.fops } },
                GFP_KERNEL,
            )?,
            device <- Opaque::try_ffi_init(move |slot: *mut bindings::miscdevice| {
                // SAFETY: `fops` was initialised before and is not moved: it is behind a box.
                let fops: *const bindings::file_operations = unsafe { &*(*this.as_ptr()).fops };
                // SAFETY: `slot` is pinned and lives until `drop`.
                unsafe {
                    slot.write(bindings::miscdevice { fops, mode: 0o600, ..raw });
                    to_result(bindings::misc_register(slot))
                }
            }),
        }? Error)
    }
}

#[pinned_drop]
impl PinnedDrop for Registration {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: registered in `new`.
        unsafe { bindings::misc_deregister(self.device.get()) };
    }
}
