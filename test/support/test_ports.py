"""Tests of ports.py."""

import subprocess
import sys
import unittest
from pathlib import Path

import ports


class Ports(unittest.TestCase):
    def in_another_process(self, call):
        done = subprocess.run([sys.executable, "-c", f"import ports; print(ports.{call})"],
                              cwd=Path(__file__).parent, capture_output=True, text=True,
                              check=True)
        return done.stdout.strip()

    def test_no_other_process_gets_the_port(self):
        self.assertEqual(self.in_another_process(f"_reserve({ports.free_port()})"), "False")

    def test_the_port_of_a_process_that_ended_is_free(self):
        self.assertTrue(ports._reserve(int(self.in_another_process("free_port()"))))

    def test_this_process_gets_it_once(self):
        self.assertFalse(ports._reserve(ports.free_port()))
        self.assertEqual(len({ports.free_port() for _ in range(200)}), 200)

    def test_ports_of_outgoing_connections_are_left_alone(self):
        self.assertEqual(ports._outside(32768, 60999), range(ports.FIRST, 32768))
        self.assertEqual(ports._outside(1024, 60999), range(61000, 65536))
        self.assertEqual(ports._outside(1024, 65535), range(ports.FIRST, 65536))


if __name__ == "__main__":
    unittest.main()
