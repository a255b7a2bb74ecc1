/** Messages of an external token signer. Upstream: externaljwt/apis/v1/api.proto. */
import { bool, bytes, int64, Message, nested, repeated, string } from '#apimachinery/runtime/protobuf/message-table';

export const signRequest = new Message({ claims: string(1) });
export const signResponse = new Message({ header: string(1), signature: string(2) });

const timestamp = new Message({ seconds: int64(1), nanos: int64(2) });
const key = new Message({ keyId: string(1), key: bytes(2), excludeFromOidcDiscovery: bool(3) });
export const fetchKeysRequest = new Message({});
export const fetchKeysResponse = new Message({ keys: repeated(1, key), dataTimestamp: nested(2, timestamp), refreshHintSeconds: int64(3) });

export const metadataRequest = new Message({});
export const metadataResponse = new Message({ maxTokenExpirationSeconds: int64(1) });
