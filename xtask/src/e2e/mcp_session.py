"""Session of the official MCP client with a running server, over HTTP and over standard input and output.

Reads BASE_URL, API_KEY (all scopes), ORGANIZATION_ID, READER_KEY (document:read only) and RETRIEVAL (path of the command
line client).
"""

import asyncio
import json
import os
from contextlib import asynccontextmanager

import mcp.client.session as client_session
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

BASE = os.environ["BASE_URL"]
KEY = os.environ["API_KEY"]
READER = os.environ["READER_KEY"]
PROGRAM = os.environ["RETRIEVAL"]

TOOLS = [
    "search",
    "read_document",
    "research_start",
    "research_get",
    "submit_feedback",
    "list_files",
    "upload_file",
]


@asynccontextmanager
async def over_http(mode, key=KEY, query=""):
    async with create_mcp_http_client(headers={"Authorization": f"Bearer {key}"}) as http:
        async with Client(streamable_http_client(f"{BASE}/mcp{query}", http_client=http), mode=mode) as client:
            yield client


@asynccontextmanager
async def over_stdio(mode, key=KEY, arguments=()):
    environment = {"RETRIEVAL_BASE_URL": BASE, "RETRIEVAL_API_KEY": key, "HOME": os.getcwd()}
    environment["RETRIEVAL_WORKSPACE_ID"] = os.environ["ORGANIZATION_ID"]
    program = StdioServerParameters(command=PROGRAM, args=["mcp", *arguments], env=environment)
    async with Client(program, mode=mode) as client:
        yield client


def text(result):
    [item] = result.content
    assert item.type == "text", item
    return item.text


def error(result):
    """Returns the error of a failed call, as a model sees it."""
    assert result.is_error, result
    return json.loads(text(result))["error"]


def sizes(result):
    """Returns the characters of both forms; a client passes one of them to the model."""
    structured = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    return [len(text(result)), len(structured)]


async def read_whole(client, doc_id):
    """Returns the document from the structured content and from the text, which say the same."""
    whole, arguments = "", {"doc_id": doc_id}
    while True:
        part = await client.call_tool("read_document", arguments)
        assert not part.is_error and max(sizes(part)) <= 20_000, part
        content = part.structured_content["content"]
        assert content["text"] in text(part), "the text holds the same part"
        whole += content["text"]
        if not content["truncated"]:
            return whole
        # As the last line of the text says.
        arguments = json.loads(text(part).rsplit("call read_document with ", 1)[1])
        assert arguments["start_char"] == len(whole), text(part)


async def use_every_tool(client):
    """Calls every tool. The client validates each result against the tool's schema."""
    listing = await client.list_tools()
    listed = listing.tools
    assert [tool.name for tool in listed] == TOOLS, listed
    assert len(listing.model_dump_json(by_alias=True, exclude_none=True)) < 12_000
    for tool in listed:
        assert tool.description and tool.title and tool.input_schema["type"] == "object", tool
        assert tool.annotations.destructive_hint is (tool.name == "upload_file"), tool

    found = await client.call_tool("search", {"query": "what moves the tides", "max_results": "3"})
    assert not found.is_error and max(sizes(found)) <= 12_000, found
    first = found.structured_content["results"][0]
    assert first["doc_id"] in text(found) and first["canonical_url"] in text(found), text(found)
    for result in found.structured_content["results"]:
        assert all(line in text(found) for line in result["passages"][0]["text"].splitlines()), text(found)
    whole = await read_whole(client, first["doc_id"])
    assert whole.count("The moon moves the tides") == 2000, len(whole)
    by_url = await client.call_tool("read_document", {"url": first["canonical_url"], "max_chars": 1000})
    assert max(sizes(by_url)) <= 1000 and "The moon moves the tides" in text(by_url), text(by_url)

    started = await client.call_tool("research_start", {"query": "What moves the tides?", "depth": "quick"})
    run = {"research_id": started.structured_content["research_id"]}
    report = await client.call_tool("research_get", run)
    assert report.structured_content["status"] == "completed" and "The moon moves the tides" in text(report), report
    assert first["canonical_url"] in text(report), text(report)

    stored = await client.call_tool("submit_feedback", {"event_type": "result_helpful", "doc_id": first["doc_id"]})
    assert stored.structured_content["accepted"] is True, stored
    uploaded = await client.call_tool("upload_file", {"name": "lamp.md", "text": "# Lamp\n\nThe lighthouse lamp turns."})
    assert uploaded.structured_content["name"] == "lamp.md" and "lamp.md" in text(uploaded), uploaded
    files = await client.call_tool("list_files", {})
    assert [file["name"] for file in files.structured_content["files"]] == ["lamp.md"] and "lamp.md" in text(files)
    for _ in range(300):
        workspace = {"query": "lighthouse lamp", "indexes": "workspace"}
        if "The lighthouse lamp turns." in text(await client.call_tool("search", workspace)):
            break
        await asyncio.sleep(0.1)
    else:
        raise AssertionError("the uploaded file was not found")

    refused = error(await client.call_tool("search", {"query": {}}))
    assert (refused["code"], refused["details"]["field"]) == ("validation_error", "query"), refused
    unknown = {"doc_id": "0190a6d2-6a5c-4cc0-8c5e-0f4c5a1b0001"}
    assert error(await client.call_tool("read_document", unknown))["code"] == "document_not_found"
    unreadable = error(await client.call_tool("read_document", {"url": "http://192.0.2.1/nothing"}))
    assert (unreadable["code"], unreadable["details"]["reason"]) == ("content_unavailable", "unreachable"), unreadable
    try:
        await client.call_tool("no_such_tool", {})
        raise AssertionError("an unknown tool was called")
    except MCPError as refusal:
        assert refusal.error.code == -32602, refusal


async def use_the_connector(client):
    assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "fetch"]
    found = await client.call_tool("search", {"query": "tides"})
    assert json.loads(text(found)) == found.structured_content
    first = found.structured_content["results"][0]
    assert set(first) == {"id", "title", "url"}, first
    fetched = await client.call_tool("fetch", {"id": first["id"]})
    assert json.loads(text(fetched)) == fetched.structured_content
    assert fetched.structured_content["url"] == first["url"] and "moon" in fetched.structured_content["text"]
    assert error(await client.call_tool("fetch", {"id": "nonsense"}))["code"] == "validation_error"


async def use_a_key_that_may_only_read(client, is_hidden):
    names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == (["read_document"] if is_hidden else TOOLS), names
    assert error(await client.call_tool("search", {"query": "tides"}))["code"] == "insufficient_scope"


async def use_plain_http():
    """Sends requests that the client never makes."""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with create_mcp_http_client() as http:
        key = {"Authorization": f"Bearer {KEY}"}
        send = lambda body, **headers: http.post(f"{BASE}/mcp", json=body, headers={**key, **headers})
        missing = await http.post(f"{BASE}/mcp", json=ping)
        assert missing.status_code == 401 and missing.headers["WWW-Authenticate"] == "Bearer", missing
        assert (await http.get(f"{BASE}/mcp", headers=key)).status_code == 405
        assert (await send(ping, Origin="https://evil.example")).status_code == 403
        assert (await send(ping, **{"MCP-Protocol-Version": "1999-01-01"})).status_code == 400
        assert (await send([ping])).status_code == 400
        for asked, agreed in [("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"), ("x", "2025-11-25")]:
            hello = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "e2e", "version": "1"}}
            answer = await send({**ping, "method": "initialize", "params": hello})
            assert answer.json()["result"]["protocolVersion"] == agreed, answer.text


async def main():
    for reach in (over_http, over_stdio):
        # The current revision and the two previous ones.
        for mode, offered in [("auto", None), ("legacy", "2025-11-25"), ("legacy", "2025-06-18")]:
            if offered:
                client_session.LATEST_HANDSHAKE_VERSION = offered
            async with reach(mode) as client:
                assert client.protocol_version == (offered or "2026-07-28"), client.protocol_version
                assert client.server_info.name == "retrieval" and client.instructions
                await use_every_tool(client)
        async with reach("auto", key=READER) as client:
            await use_a_key_that_may_only_read(client, is_hidden=reach is over_http)
    for mode in ("auto", "legacy"):
        async with over_http(mode, query="?profile=connector") as client:
            await use_the_connector(client)
        async with over_stdio(mode, arguments=["--profile", "connector"]) as client:
            await use_the_connector(client)
    async with over_http("auto", query="?profile=search") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["search"]
    async with over_http("auto", query="?tools=search,read_document") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "read_document"]
    await use_plain_http()
    print("MCP: the session of the official client passed, over HTTP and over standard input and output")


asyncio.run(main())
