// bitcoind: the entry point of the node.
int main()
{
    return 0;
}
