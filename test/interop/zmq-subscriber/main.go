// Subscribes to the topics of a ZeroMQ publisher and prints each message as a line: the topic, the
// body in hex, and the message's number.
//
//	zmq-subscriber ADDRESS TOPIC...
//
// Prints "subscribed" once it is connected. Ends when its standard input is closed.
package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/go-zeromq/zmq4"
)

func fail(what string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	os.Exit(1)
}

func main() {
	socket := zmq4.NewSub(context.Background())
	if err := socket.Dial(os.Args[1]); err != nil {
		fail("dial", err)
	}
	for _, topic := range os.Args[2:] {
		if err := socket.SetOption(zmq4.OptionSubscribe, topic); err != nil {
			fail("subscribe", err)
		}
	}
	fmt.Println("subscribed")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		message, err := socket.Recv()
		if err != nil {
			fail("receive", err)
		}
		parts := message.Frames
		if len(parts) != 3 || len(parts[2]) != 4 {
			fail("receive", fmt.Errorf("a message of %d parts", len(parts)))
		}
		fmt.Println(string(parts[0]), hex.EncodeToString(parts[1]),
			binary.LittleEndian.Uint32(parts[2]))
	}
}
