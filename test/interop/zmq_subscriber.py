"""Runs zmq-subscriber, a subscriber in Go, and reads the messages that it prints."""

import queue
import subprocess
import threading

from interop_env import built_program


class GoSubscriber:
    """Subscribes to `topics` at `url`."""

    def __init__(self, url, *topics):
        binary = built_program("build_zmq_subscriber.sh", "IBD_ZMQ_SUBSCRIBER")
        self.process = subprocess.Popen([binary, url, *topics], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        assert self.lines.get(timeout=60) == "subscribed"

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def receive(self, timeout=60):
        """Topic, body as hex, number. queue.Empty: none came in time."""
        topic, body, number = self.lines.get(timeout=timeout).split(" ")
        return topic, body, int(number)

    def close(self):
        self.process.stdin.close()
        status = self.process.wait(timeout=60)
        self.reader.join()
        self.process.stdout.close()
        assert status == 0, status
