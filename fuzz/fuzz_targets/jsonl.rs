#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let document = ibid_carrier::jsonl::Document::from_bytes(data.to_vec());
    // Lines begin behind a byte order mark.
    let mut again = if data.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    for line in document.lines() {
        assert!(line.start <= line.end && line.end <= line.after);
        assert_eq!(line.start, again, "lines follow each other");
        again = line.after;
    }
    assert_eq!(again, data.len() as u64, "no byte is left over");
    let records = document.read_records(|text| serde_json::from_str::<serde_json::Value>(text));
    let mut end = 0;
    for item in &records.items {
        assert!(end <= item.start && item.start < item.end && item.end <= data.len() as u64);
        end = item.end;
    }
});
