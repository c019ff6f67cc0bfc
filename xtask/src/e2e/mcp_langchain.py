"""Tools of a running server in LangChain's adapter, which passes the text to the model and keeps the structured content
beside it.

Reads BASE_URL and API_KEY.
"""

import asyncio
import os

from langchain_core.messages import ToolCall
from langchain_mcp_adapters.client import MultiServerMCPClient

ADDRESS = f"{os.environ['BASE_URL']}/mcp"
HEADERS = {"Authorization": f"Bearer {os.environ['API_KEY']}"}


def text(message):
    """Returns what a model reads of a tool's message."""
    if isinstance(message.content, str):
        return message.content
    return "".join(part["text"] for part in message.content)


async def main():
    server = {"transport": "streamable_http", "url": ADDRESS, "headers": HEADERS}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"retrieval": server}).get_tools()}
    files = {"list_files", "upload_file"}
    assert set(tools) == {"search", "read_document", "research_start", "research_get", "submit_feedback"} | files, tools

    async def call(name, arguments):
        return await tools[name].ainvoke(ToolCall(type="tool_call", name=name, args=arguments, id="1"))

    found = await call("search", {"query": "what moves the tides", "max_results": "2"})
    assert "> The moon moves the tides" in text(found), found
    structured = found.artifact["structured_content"]
    first = structured["results"][0]
    assert "The moon moves the tides" in first["passages"][0]["text"] and first["doc_id"] in text(found), found
    read = await call("read_document", {"url": first["canonical_url"]})
    assert text(read).count("The moon moves the tides") > 100 and "Next: the text continues" in text(read)
    assert read.artifact["structured_content"]["content"]["text"] in text(read)
    files = await call("list_files", {})
    assert "files" in files.artifact["structured_content"], files
    print("MCP: LangChain's adapter read text and structured content")


asyncio.run(main())
