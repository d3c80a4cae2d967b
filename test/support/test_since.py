"""The choice of test/run.sh --since."""

import unittest

import since

USES = {"util": [], "crypto": ["util"], "net": ["crypto"], "cli": ["util"]}


class Since(unittest.TestCase):
    def test_a_module_and_its_users(self):
        self.assertEqual(since.concerned(["src/crypto/sha256.cpp", "src/crypto/sha256.h"], USES),
                         (["crypto", "net"], [], ["src/crypto/sha256.cpp"]))

    def test_a_test_concerns_itself(self):
        paths = ["test/unit/net/peer_test.cpp", "test/functional/test_rpc.py",
                 "test/functional/framework.py"]
        self.assertEqual(since.concerned(paths, USES), (["net"], ["test_rpc"], []))

    def test_shared_files_concern_all_units(self):
        for path in ("cmake/Toolchain.cmake", "test/sim/chain.cpp", "test/unit/support/main.cpp"):
            self.assertEqual(since.concerned([path], USES)[0], sorted(USES), path)

    def test_programs_without_a_module(self):
        self.assertEqual(since.more_programs(["test/full_validation/setup.h"], []),
                         ["unit_full_validation"])
        self.assertEqual(since.more_programs(["test/sim/sim_test.cpp"], ["consensus"]),
                         ["unit_sim"])
        self.assertEqual(since.more_programs(["README.md"], ["net", "join"]),
                         ["unit_full_validation"])

    def test_documents_concern_none(self):
        self.assertEqual(since.concerned(["README.md", "src/nothing/a.cpp"], USES),
                         ([], [], ["src/nothing/a.cpp"]))
