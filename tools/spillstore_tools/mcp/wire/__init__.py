"""What the server and the proxy share: lines on descriptors, raw JSON, messages, pending requests, results of tools."""
