"""Bitcoin Core's own bitcoind beside ours: both get the same blocks and must say the same."""

import contextlib
import pathlib

from framework import FunctionalTest, Node, RpcError, coins
from interop_env import built_program


# Members of answers that Core 31 has, as ours, and the pinned 31.99 only on request.
MEMBERS_OF_31 = ("-deprecatedrpc=bip125", "-deprecatedrpc=fullrbf")


class CoreNode(Node):
    """Core's bitcoind, of build_core.sh; without connections by default, as our Node."""

    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.programs = built_program("build_core.sh", "IBD_CORE")
        self.binary = self.programs / "bitcoind"

    def command(self, *args):
        return [*super().command(*args), *MEMBERS_OF_31]


class Difference(AssertionError):
    pass


class Pair(contextlib.AbstractContextManager):
    """Both nodes on new directories below `folder`, started with the same options.

    Every answer is compared; answers are counted by their content."""

    def __init__(self, folder, chain="regtest", options=()):
        folder = pathlib.Path(folder)
        self.core = CoreNode(folder / "core", chain, options)
        self.ours = Node(folder / "ours", chain, options)
        self.answers = {}
        self.tip = None

    def __enter__(self):
        self.core.start()
        self.ours.start()
        return self

    def __exit__(self, kind, value, trace):
        self.core.kill()
        self.ours.kill()

    def ask(self, method, *params, known=lambda answer: None):
        """The answer of both, a result or an error with its code and text. `known` removes from
        ours what is documented to differ."""
        answers = []
        for node in (self.core, self.ours):
            try:
                answers.append(node.rpc(method, *params))
            except RpcError as error:
                answers.append((error.code, error.message))
        known(answers[1])
        if answers[0] != answers[1]:
            shown = " ".join(str(param)[:200] for param in params)
            raise Difference(f"{method} {shown}\n  core {answers[0]}\n  ours {answers[1]}")
        return answers[0]

    def submit(self, block):
        """submitblock: None where the block was taken. The tips are compared too."""
        answer = self.ask("submitblock", block.raw().hex())
        self.answers[answer] = self.answers.get(answer, 0) + 1
        self.tip = self.ask("getbestblockhash")
        return answer

    def finish(self):
        """Same coins at the end, and for both again after a restart."""
        for restart in (False, True):
            if restart:
                for node in (self.core, self.ours):
                    node.stop().start()
            theirs, ours = coins(self.core), coins(self.ours)
            if theirs != ours:
                raise Difference(f"coins at the end\n  core {theirs}\n  ours {ours}")
        for node in (self.core, self.ours):
            node.stop()
        return self.answers


class PairTest(FunctionalTest):
    """Both nodes run, with `options`, and `ask` puts one question to both."""

    options = ()

    def setUp(self):
        super().setUp()
        self.pair = Pair(self.dir, options=self.options)
        self.nodes += [self.pair.core, self.pair.ours]
        for node in self.nodes:
            node.start()

    def known(self, call, answers):
        """Makes the same in both answers, errors being (code, text), known differences."""

    def ask(self, *call):
        """The answer of both, or else a failed subtest; for a usage error the first line."""
        answers = []
        for node in (self.pair.core, self.pair.ours):
            try:
                answers.append(node.rpc(*call))
            except RpcError as error:
                text = error.message.split("\n")[0] if error.code == -1 else error.message
                answers.append((error.code, text))
        self.known(call, answers)
        if answers[1] != answers[0]:
            with self.subTest(call):
                self.assertEqual(answers[1], answers[0])
        return answers[0]
