use crate::common::{Home, ibid};

#[test]
fn every_command_has_a_page() {
    let home = Home::new();
    let out = home.path().join("man1");
    ibid(&home, ["man", "--out", out.to_str().unwrap()]).ends(0);
    for page in ["ibid.1", "ibid-list.1", "ibid-convert.1", "ibid-demo.1"] {
        let text = std::fs::read_to_string(out.join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
}

#[test]
fn one_page_can_be_printed() {
    let home = Home::new();
    assert!(ibid(&home, ["man", "show"]).ends(0).stdout.contains("ibid\\-show"));
    let convert = ibid(&home, ["man", "convert"]).ends(0).stdout;
    let synopsis = convert.split_once(".SH SYNOPSIS").unwrap().1.split_once(".SH ").unwrap().0;
    assert!(synopsis.contains("\\-\\-to <HARNESS>"), "{synopsis}");
    assert_eq!(convert.matches(".SH SYNOPSIS").count(), 1);
    ibid(&home, ["man", "nope"]).ends(1);
}

#[test]
fn the_whole_command_line_fits_on_one_page_of_markdown() {
    let page = ibid(&Home::new(), ["man", "--markdown"]).ends(0).stdout;
    for command in ["list", "continue", "man"] {
        assert!(page.contains(&format!("\n## `ibid {command}`\n")), "{command} is missing");
    }
}
