// See chacha20_poly1305.h.
#include "crypto/chacha20_poly1305.h"

#include "util/check.h"

#include <algorithm>

#include <openssl/evp.h>

namespace ibd {

namespace {

/** OpenSSL takes sizes as int. */
constexpr size_t kMaxUpdate = size_t{1} << 30;

} // namespace

void ChaCha20Poly1305::Deleter::operator()(evp_cipher_ctx_st* context) const
{
    EVP_CIPHER_CTX_free(context); // wipes the key
}

ChaCha20Poly1305::ChaCha20Poly1305(const Hash32& key)
    : m_seal(EVP_CIPHER_CTX_new()), m_open(EVP_CIPHER_CTX_new())
{
    CHECK(m_seal && m_open);
    SetKey(key);
}

ChaCha20Poly1305::~ChaCha20Poly1305() = default;
ChaCha20Poly1305::ChaCha20Poly1305(ChaCha20Poly1305&&) noexcept = default;
ChaCha20Poly1305& ChaCha20Poly1305::operator=(ChaCha20Poly1305&&) noexcept = default;

void ChaCha20Poly1305::SetKey(const Hash32& key)
{
    const EVP_CIPHER* const cipher = EVP_chacha20_poly1305();
    CHECK(EVP_CipherInit_ex(m_seal.get(), cipher, nullptr, key.data(), nullptr, 1) == 1);
    CHECK(EVP_CipherInit_ex(m_open.get(), cipher, nullptr, key.data(), nullptr, 0) == 1);
    m_current = nullptr;
}

void ChaCha20Poly1305::Start(const Nonce& nonce, ByteSpan extra, bool seal)
{
    m_current = seal ? m_seal.get() : m_open.get();
    CHECK(EVP_CipherInit_ex(m_current, nullptr, nullptr, nullptr, nonce.data(), -1) == 1);
    CHECK(extra.size() <= kMaxUpdate);
    int done = 0;
    if (extra.empty()) return;
    CHECK(EVP_CipherUpdate(m_current, nullptr, &done, extra.data(),
                           static_cast<int>(extra.size())) == 1);
}

void ChaCha20Poly1305::StartSeal(const Nonce& nonce, ByteSpan extra) { Start(nonce, extra, true); }
void ChaCha20Poly1305::StartOpen(const Nonce& nonce, ByteSpan extra) { Start(nonce, extra, false); }

void ChaCha20Poly1305::Update(ByteSpan in, MutableByteSpan out)
{
    CHECK(m_current != nullptr && in.size() == out.size());
    for (size_t at = 0; at < in.size();) {
        const int size = static_cast<int>(std::min(in.size() - at, kMaxUpdate));
        int done = 0;
        CHECK(EVP_CipherUpdate(m_current, out.data() + at, &done, in.data() + at, size) == 1);
        CHECK(done == size);
        at += static_cast<size_t>(size);
    }
}

ChaCha20Poly1305::Tag ChaCha20Poly1305::FinishSeal()
{
    CHECK(m_current == m_seal.get());
    uint8_t nothing[1];
    int done = 0;
    CHECK(EVP_CipherFinal_ex(m_current, nothing, &done) == 1);
    Tag tag;
    CHECK(EVP_CIPHER_CTX_ctrl(m_current, EVP_CTRL_AEAD_GET_TAG, kTagSize, tag.data()) == 1);
    m_current = nullptr;
    return tag;
}

bool ChaCha20Poly1305::FinishOpen(const Tag& tag)
{
    CHECK(m_current == m_open.get());
    Tag copy = tag; // the call takes a non-const pointer
    CHECK(EVP_CIPHER_CTX_ctrl(m_current, EVP_CTRL_AEAD_SET_TAG, kTagSize, copy.data()) == 1);
    uint8_t nothing[1];
    int done = 0;
    const bool right = EVP_CipherFinal_ex(m_current, nothing, &done) == 1;
    m_current = nullptr;
    return right;
}

} // namespace ibd
