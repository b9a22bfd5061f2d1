//! Names of MCP tools, as several programs make them: `mcp__server__tool`.

/// The server and the tool, where the name says for certain which is which: neither holds two
/// underscores in a row, and none of them stands beside the ones between.
pub(crate) fn parts(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    let certain = !server.is_empty() && !tool.is_empty() && !tool.starts_with('_') && !tool.contains("__");
    certain.then_some((server, tool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_can_be_read_in_two_ways_names_nothing() {
        assert_eq!(parts("mcp__git_hub__list_issues"), Some(("git_hub", "list_issues")));
        for name in ["mcp__a", "mcp__a__", "mcp____b", "mcp__a___b", "mcp__a__b__c", "a__b", ""] {
            assert_eq!(parts(name), None, "{name}");
        }
    }
}
