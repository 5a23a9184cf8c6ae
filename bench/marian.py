"""The peer's Transformer: Hugging Face's MarianMT, with the shapes of the rows."""


def marian_config(shape, vocabulary, pad, end, **more):
    """shape: width, layers (of each stack), heads, feed-forward width."""
    from transformers import MarianConfig

    return MarianConfig(
        vocab_size=vocabulary,
        d_model=shape["width"],
        encoder_layers=shape["layers"],
        decoder_layers=shape["layers"],
        encoder_attention_heads=shape["heads"],
        decoder_attention_heads=shape["heads"],
        encoder_ffn_dim=shape["inner"],
        decoder_ffn_dim=shape["inner"],
        activation_function="relu",
        pad_token_id=pad,
        eos_token_id=end,
        decoder_start_token_id=pad,
        forced_eos_token_id=end,
        scale_embedding=True,
        **more,
    )
