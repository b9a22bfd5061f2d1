#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((size, data)) = data.split_first() else { return };
    let limits = ibid_carrier::jsonl::Limits::default();
    let mut scanner = ibid_carrier::jsonl::Scanner::with_buffer(data, 0, &limits, usize::from(*size) + 1);
    let document = ibid_carrier::jsonl::Document::from_bytes(data.to_vec());
    let mut lines = document.lines();
    while let Ok(Some(line)) = scanner.next() {
        let other = lines.next().expect("both have as many lines");
        assert_eq!((line.start, line.end, line.bytes), (other.start, other.end, other.bytes));
    }
    assert!(lines.next().is_none());
});
