/**
 * The messages of KMS v2 and the stored form of a value. Upstream: kms/apis/v2/api.proto,
 * apiserver/pkg/storage/value/encrypt/envelope/kmsv2/v2/api.proto.
 */
import { bytes, int64, Message, repeated, string } from '#apimachinery/runtime/protobuf/message-table';

const annotation = new Message({ name: string(1), value: bytes(2) });

export const statusRequest = new Message({});
export const statusResponse = new Message({ version: string(1), healthz: string(2), keyId: string(3) });
export type KmsStatus = ReturnType<typeof statusResponse.decode>;

export const decryptRequest = new Message({ ciphertext: bytes(1), uid: string(2), keyId: string(3), annotations: repeated(4, annotation) });
export const decryptResponse = new Message({ plaintext: bytes(1) });

export const encryptRequest = new Message({ plaintext: bytes(1), uid: string(2) });
export const encryptResponse = new Message({ ciphertext: bytes(1), keyId: string(2), annotations: repeated(3, annotation) });

/** An encrypted value with its data key, which the service has encrypted. */
export const encryptedObject = new Message({
  encryptedData: bytes(1),
  keyId: string(2),
  encryptedDekSource: bytes(3),
  annotations: repeated(4, annotation),
  encryptedDekSourceType: int64(5),
});
export type EncryptedObject = ReturnType<typeof encryptedObject.decode>;

/** `EncryptedDEKSourceType`: the encrypted data is the key itself, or the seed of one key for each value. */
export const dekSource = { aesGcmKey: 0, seed: 1 } as const;
