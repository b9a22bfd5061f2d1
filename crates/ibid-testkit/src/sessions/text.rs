//! Texts and JSON values that readers and writers stumble over.

use ibid_model::{Json, Text};
use proptest::prelude::*;

/// Texts that were the undoing of some tool: separators that are no line ends, letters outside
/// the basic plane, right-to-left writing, what looks like an escape, white space, markup.
const HARD: &[&str] = &[
    "a\u{2028}b\u{2029}c",
    "x\u{85}y\u{b}z\u{c}",
    "\u{1f469}\u{200d}\u{1f4bb} writes \u{1f980}",
    "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202e}abc\u{202c}",
    "nul \u{0} in the middle",
    r"\u0000 \ud83d \n are letters here",
    "\"quoted\" and \\back\\slashed\\",
    "  leading and trailing  ",
    "line one\r\nline two\ttabbed\n",
    "e\u{301} and \u{e9}, \u{30c9} and \u{30c8}\u{3099}",
    "{\"type\":\"message\"}\n{\"type\":\"session\"}",
    "`code` <b>markup</b> & [link](x)",
    "\u{feff}with a byte order mark",
    "\u{fffd} stands for something lost",
];

/// Text that has more than white space in it.
pub fn text() -> impl Strategy<Value = Text> {
    prop_oneof![
        4 => "[a-z]{1,8}( [a-z]{1,8}){0,6}",
        3 => prop::sample::select(HARD).prop_map(str::to_owned),
        2 => "\\PC{1,24}",
        1 => "[a-z\\n]{200,400}",
    ]
    .prop_map(Text::from)
    .prop_filter("more than white space", |text| !text.is_blank())
}

/// Text that may also be empty or blank.
pub fn any_text() -> impl Strategy<Value = Text> {
    prop_oneof![8 => text(), 1 => Just(Text::from("")), 1 => Just(Text::from(" \n\t "))]
}

/// A short word, as names of files, tools and fields are.
pub fn word() -> impl Strategy<Value = Text> {
    "[a-z][a-z0-9]{0,7}".prop_map(Text::from)
}

/// A path, sometimes relative, with spaces or beyond ASCII.
pub fn path() -> impl Strategy<Value = Text> {
    prop_oneof![
        "/home/dev/demo/[a-z]{1,6}\\.(rs|txt|md)",
        "[a-z]{1,6}/[a-z]{1,6}\\.rs",
        Just("/home/dev/My Project/\u{30c9}\u{30e9}\u{30a4}\u{30d6}.txt".to_owned()),
        Just(r"C:\Users\dev\file.txt".to_owned()),
    ]
    .prop_map(Text::from)
}

/// A JSON value as text: big numbers, numbers whose spelling says more than their value, escapes,
/// nesting.
pub fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        prop::sample::select(vec![
            "123456789012345678901234567890",
            "9007199254740993",
            "1.50",
            "1e3",
            "-0.0",
            "\"\\u00e9\\u2028\\/\"",
            "\"\\ud83d\\ude00\"",
            "[]",
            "{}",
        ])
        .prop_map(str::to_owned),
        text().prop_map(|text| Json::string(&text).to_string()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|values| format!("[{}]", values.join(","))),
            object_text(inner),
        ]
    })
    .prop_map(|text| Json::from_text(text).expect("the parts are JSON"))
}

/// A JSON object whose keys differ.
pub fn object() -> impl Strategy<Value = Json> {
    object_text(json().prop_map(|json| json.to_string()))
        .prop_map(|text| Json::from_text(text).expect("the parts are JSON"))
}

fn object_text(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::collection::btree_map("[a-z]{1,5}", value, 0..4).prop_map(|fields| {
        let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    })
}
