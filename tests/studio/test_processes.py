"""Processes of the service: where they come from, and what happens when the fork server is lost."""

from __future__ import annotations

import asyncio
import sys

import pytest

from neuralns.studio.processes import ForkStarter

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")


def test_a_fork_server_that_is_lost_unnoticed_is_replaced() -> None:
    async def run() -> tuple[int, int]:
        starter = ForkStarter()
        try:
            starter.start()
            lost = starter._fork_server
            assert lost is not None
            lost.kill()
            # The event loop has no time to see that its socket is closed.
            lost.wait()
            process = await starter.new_process()
            assert starter._fork_server is not None
            process.kill()
            return lost.pid, starter._fork_server.pid
        finally:
            starter.close()

    lost, used = asyncio.run(run())
    assert used != lost


def test_a_fork_server_may_be_lost_while_a_process_connects() -> None:
    async def run() -> bool:
        starter = ForkStarter()
        try:
            starter.start()
            starting = asyncio.ensure_future(starter.new_process())
            # Now it waits for its streams.
            await asyncio.sleep(0)
            starter._drop_fork_server()
            process = await starting
            return not process.ended.done()
        finally:
            starter.close()

    assert asyncio.run(run())
