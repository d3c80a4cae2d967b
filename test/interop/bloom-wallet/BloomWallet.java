// A wallet that speaks BIP 37 (the library bitcoinj), for tests:
//
//     BloomWallet PORT
//
// is a peer of the node at 127.0.0.1:PORT on regtest and nothing else. It prints "address A" for
// its own address, "height N" for each new best block, and "balance SATOSHIS CONFIRMED" for each
// change of the wallet. A line of standard input "send ADDRESS SATOSHIS" is answered "sent TXID".

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.bitcoinj.base.Address;
import org.bitcoinj.base.BitcoinNetwork;
import org.bitcoinj.base.Coin;
import org.bitcoinj.base.ScriptType;
import org.bitcoinj.core.BlockChain;
import org.bitcoinj.core.PeerAddress;
import org.bitcoinj.core.PeerGroup;
import org.bitcoinj.core.listeners.DownloadProgressTracker;
import org.bitcoinj.params.RegTestParams;
import org.bitcoinj.store.MemoryBlockStore;
import org.bitcoinj.wallet.SendRequest;
import org.bitcoinj.wallet.Wallet;

public class BloomWallet {
    private static final BitcoinNetwork NETWORK = BitcoinNetwork.REGTEST;
    private static final int STALL_SECONDS = 3_600; // after which it leaves a peer that sends little

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static void sayBalance(Wallet wallet) {
        say("balance " + wallet.getBalance(Wallet.BalanceType.ESTIMATED).value + " "
                + wallet.getBalance(Wallet.BalanceType.AVAILABLE).value);
    }

    public static void main(String[] args) throws Exception {
        Wallet wallet = Wallet.createDeterministic(NETWORK, ScriptType.P2WPKH);
        wallet.addChangeEventListener(BloomWallet::sayBalance);
        BlockChain chain = new BlockChain(NETWORK, wallet,
                new MemoryBlockStore(RegTestParams.get().getGenesisBlock()));
        chain.addNewBestBlockListener(block -> say("height " + block.getHeight()));
        chain.addReorganizeListener((split, gone, added) -> say("height " + added.stream()
                .mapToInt(block -> block.getHeight()).max().getAsInt()));
        PeerGroup group = new PeerGroup(NETWORK, chain);
        group.addWallet(wallet);
        group.setMinBroadcastConnections(1);
        int port = Integer.parseInt(args[0]);
        group.addAddress(PeerAddress.simple(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
        group.setMaxConnections(1); // the peer added above counts; with more it waits for others
        group.setStallThreshold(STALL_SECONDS, 1); // a loaded machine is slow
        // Before the start: of a peer that connects earlier it never asks for blocks.
        DownloadProgressTracker blocks = new DownloadProgressTracker();
        group.startBlockChainDownload(blocks);
        group.start();
        say("address " + wallet.currentReceiveAddress());
        blocks.await();
        serve(wallet);
        group.stop();
    }

    private static void serve(Wallet wallet) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            Address to = wallet.parseAddress(words[1]);
            SendRequest request = SendRequest.to(to, Coin.valueOf(Long.parseLong(words[2])));
            say("sent " + wallet.sendCoins(request).transaction().getTxId());
        }
    }
}
