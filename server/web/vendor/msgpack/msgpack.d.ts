export { encode, decode, decodeMulti, decodeAsync, decodeArrayStream, decodeMultiStream, Decoder, DecodeError, Encoder, ExtensionCodec, ExtData, EXT_TIMESTAMP } from "@msgpack/msgpack";
