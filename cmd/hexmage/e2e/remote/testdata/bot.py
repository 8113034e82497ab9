"""Takes actions of a BuildGrid and has buildbox-run run them: what buildbox-worker does, which no registry has.

usage: bot.py ADDRESS INSTANCE CA CERTIFICATE KEY TOKEN COUNT COMMAND...

CA to TOKEN are files; COUNT actions run at a time; COMMAND is buildbox-run and its flags but for --action and --action-result
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc

DEADLINE_EXCEEDED, INTERNAL = 4, 13


class Run:
    """An action that runs, in a process group of its own."""

    def __init__(self, action, command):
        self.dir = tempfile.TemporaryDirectory()
        self.result = os.path.join(self.dir.name, "result")
        given = os.path.join(self.dir.name, "action")
        with open(given, "wb") as f:
            f.write(action.SerializeToString())
        limit = action.timeout.seconds + action.timeout.nanos / 1e9
        self.late = time.monotonic() + limit if limit else float("inf")
        self.process = subprocess.Popen([*command, "--action=" + given, "--action-result=" + self.result], start_new_session=True)

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.dir.cleanup()

    def ended(self, lease):
        """Says whether it has ended, and then what came of it."""
        if time.monotonic() > self.late:
            lease.status.code, lease.status.message = DEADLINE_EXCEEDED, "it ran longer than it may"
        elif self.process.poll() is None:
            return False
        elif not os.path.exists(self.result):
            lease.status.code, lease.status.message = INTERNAL, f"buildbox-run ended with {self.process.returncode} and left no result"
        else:
            result = remote_execution_pb2.ActionResult()
            with open(self.result, "rb") as f:
                result.ParseFromString(f.read())
            lease.result.Pack(result)
        return True


def work(bots, instance, name, command):
    session = bots_pb2.BotSession(bot_id=name, status=bots_pb2.OK)
    session.worker.devices.add(handle=name).properties.add(key="OSFamily", value="linux")
    session = bots.CreateBotSession(bots_pb2.CreateBotSessionRequest(parent=instance, bot_session=session), wait_for_ready=True)
    running = None
    while True:
        for lease in session.leases:
            if lease.state in (bots_pb2.PENDING, bots_pb2.ACTIVE) and not running:
                action = remote_execution_pb2.Action()
                lease.payload.Unpack(action)
                running = Run(action, command)
                lease.state = bots_pb2.ACTIVE
            elif lease.state == bots_pb2.ACTIVE and running.ended(lease):
                lease.state = bots_pb2.COMPLETED
        if running and not any(lease.state == bots_pb2.ACTIVE for lease in session.leases):  # it ended, or is wanted no more
            running.end()
            running = None
        if running:
            time.sleep(0.05)
        session = bots.UpdateBotSession(bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session))


def read(path):
    with open(path, "rb") as f:
        return f.read()


def main(address, instance, ca, certificate, key, token, count, *command):
    tls = grpc.ssl_channel_credentials(read(ca), read(key), read(certificate))
    login = grpc.access_token_call_credentials(read(token).decode())
    bots = bots_pb2_grpc.BotsStub(grpc.secure_channel(address, grpc.composite_channel_credentials(tls, login)))
    for i in range(int(count)):
        threading.Thread(target=work, args=(bots, instance, f"bot{i}", command)).start()


main(*sys.argv[1:])
