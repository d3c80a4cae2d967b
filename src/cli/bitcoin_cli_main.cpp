// bitcoin-cli: the entry point of the command-line RPC client.
int main()
{
    return 0;
}
