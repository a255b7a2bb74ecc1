/** Messages of etcd's API that kube-apiserver's store uses. Upstream: etcd/api/etcdserverpb/rpc.proto, mvccpb/kv.proto. */
import { protobufMessage } from '#sdk/internal';

const { bool, bytes, exactInt64, int64, Message, nested, oneofInt64, repeated, string, strings } = protobufMessage;

const header = new Message({ memberId: int64(2), revision: int64(3) });

const keyValue = new Message({
  key: string(1),
  createRevision: int64(2),
  modRevision: int64(3),
  version: int64(4),
  value: bytes(5),
});
export type KeyValue = ReturnType<typeof keyValue.decode>;

const event = new Message({ type: int64(1), kv: nested(2, keyValue), prevKv: nested(3, keyValue) });
export type EtcdEvent = ReturnType<typeof event.decode>;
/** Event type of a deletion: `mvccpb.Event.DELETE`. */
export const deleteEvent = 1;

export const rangeRequest = new Message({
  key: string(1),
  rangeEnd: string(2),
  limit: int64(3),
  revision: int64(4),
});
export const rangeResponse = new Message({
  header: nested(1, header),
  kvs: repeated(2, keyValue),
  more: bool(3),
  count: int64(4),
});

const putRequest = new Message({ key: string(1), value: bytes(2), lease: exactInt64(3) });
const deleteRangeRequest = new Message({ key: string(1) });
const requestOp = new Message({
  range: nested(1, rangeRequest),
  put: nested(2, putRequest),
  deleteRange: nested(3, deleteRangeRequest),
});
const deleteRangeResponse = new Message({ deleted: int64(2), prevKvs: repeated(3, keyValue) });
const responseOp = new Message({ range: nested(1, rangeResponse), deleteRange: nested(3, deleteRangeResponse) });
/** `result` 0 is EQUAL; `target` 0 is the version, 2 the revision of the last write. */
const compare = new Message({
  result: int64(1),
  target: int64(2),
  key: string(3),
  version: oneofInt64(4),
  modRevision: oneofInt64(6),
});
/** Comparison of the last write's revision: `Compare.CompareTarget.MOD`. */
export const modTarget = 2;
export const txnRequest = new Message({ compare: repeated(1, compare), success: repeated(2, requestOp), failure: repeated(3, requestOp) });
export const txnResponse = new Message({ header: nested(1, header), succeeded: bool(2), responses: repeated(3, responseOp) });
export type TxnResponse = ReturnType<typeof txnResponse.decode>;

export const compactionRequest = new Message({ revision: int64(1) });
export const compactionResponse = new Message({ header: nested(1, header) });

export const statusRequest = new Message({});
export const statusResponse = new Message({ dbSize: int64(3), errors: strings(8) });

export const leaseGrantRequest = new Message({ ttl: int64(1) });
export const leaseGrantResponse = new Message({ id: exactInt64(2), ttl: int64(3), error: string(4) });

const watchCreateRequest = new Message({
  key: string(1),
  rangeEnd: string(2),
  startRevision: int64(3),
  progressNotify: bool(4),
  prevKv: bool(6),
});
const watchProgressRequest = new Message({});
export const watchRequest = new Message({ create: nested(1, watchCreateRequest), progress: nested(3, watchProgressRequest) });
export const watchResponse = new Message({
  header: nested(1, header),
  watchId: int64(2),
  created: bool(3),
  canceled: bool(4),
  compactRevision: int64(5),
  cancelReason: string(6),
  events: repeated(11, event),
});
export type WatchResponse = ReturnType<typeof watchResponse.decode>;
