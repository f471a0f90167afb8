"""What stands in for the program ``vllm``: its command line, its routes, and how it may fail.

``vllm serve MODEL --host H --port P`` takes further arguments, by which it misbehaves on demand:

--load SECONDS      is not ready before
--die-loading       ends while it loads, with a message
--die-at N          ends when it gets its Nth question
--deaf              never becomes ready
--other-model       serves another model than the named one
--stubborn          does not end by SIGTERM
--starts FILE       appends its process number to a file

It answers ``POST /v1/chat/completions`` with the last message and who it is, and only to whom knows
the key in VLLM_API_KEY.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

parser = argparse.ArgumentParser()
parser.add_argument("command", choices=["serve"])
parser.add_argument("model")
parser.add_argument("--host", required=True)
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--max-model-len", type=int, default=4096)
parser.add_argument("--load", type=float, default=0.0)
parser.add_argument("--die-at", type=int, default=0)
parser.add_argument("--starts", type=Path)
for flag in ("die-loading", "deaf", "other-model", "stubborn"):
    parser.add_argument(f"--{flag}", action="store_true")
options = parser.parse_args()
began = time.monotonic()
asked = 0
counting = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/health":
            ready = not options.deaf and time.monotonic() - began >= options.load
            self.reply(200 if ready else 503, b"")
        elif self.path == "/v1/models" and self.is_known():
            name = "other" if options.other_model else options.model
            self.reply(200, json.dumps({"data": [{"id": name}]}).encode())
        else:
            self.reply(401, b"{}")

    def do_POST(self) -> None:
        global asked  # noqa: PLW0603 - the server's only state
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with counting:
            asked += 1
        if asked == options.die_at:
            sys.stderr.write("CUDA out of memory\n")
            os._exit(1)
        if not self.is_known() or body["model"] != options.model:
            self.reply(401, b'{"error": {"message": "Unauthorized"}}')
            return
        said: dict[str, Any] = {"key": "OPENAI_API_KEY" in os.environ, "pid": os.getpid()}
        message = {"role": "assistant", "content": body["messages"][-1]["content"]}
        self.reply(
            200,
            json.dumps(
                {
                    "id": "1",
                    "object": "chat.completion",
                    "model": options.model,
                    "system_fingerprint": json.dumps(said),
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
                }
            ).encode(),
        )

    def log_message(self, *_: Any) -> None:
        """Print no line for a request."""

    def is_known(self) -> bool:
        return self.headers["Authorization"] == f"Bearer {os.environ['VLLM_API_KEY']}"

    def reply(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if options.starts:
    with options.starts.open("a") as file:
        print(os.getpid(), file=file)
if options.stubborn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stderr.write(f"loading {options.model}, secrets: {'OPENAI_API_KEY' in os.environ}\n")
if options.die_loading:
    sys.exit(f"ValueError: {options.model} is no model that vLLM knows")
server = ThreadingHTTPServer((options.host, options.port), Handler)
server.daemon_threads = True
server.serve_forever()
