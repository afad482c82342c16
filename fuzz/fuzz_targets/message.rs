#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| crewmux::hostile::check("message", bytes));
