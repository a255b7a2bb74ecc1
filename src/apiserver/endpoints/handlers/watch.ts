import { Buffer } from 'node:buffer';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { groupResourceString, newNotAcceptable } from '#apimachinery/api/errors';
import { groupVersionString, type KubeObject, type ListMeta } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/encode';
import { encodeCbor, encodeCborWatchEvent } from '#apimachinery/runtime/cbor/cbor';
import { parseEncoded } from '#apimachinery/runtime/json/json';
import { encodeProtobufWatchEvent } from '#apimachinery/runtime/protobuf/protobuf';
import type { ResponseStream } from '#apiserver/request/exchange';
import type { RequestContext } from '#apiserver/request/request-context';
import { newSeries, observe } from '#apiserver/base/metrics/series-histogram';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import type { Predicate } from '#apiserver/storage/cacher/predicate';
import type { ObjectEvent, WatchEvent } from '#apiserver/storage/cacher/watch-event';
import type { WatchEnd, WatchHandle, WatchSink } from '#apiserver/storage/cacher/watcher';
import { parseObject, type Prepare, prepareProtobuf } from './large-objects.ts';
import { negotiate, type Negotiated, streamMediaTypes, watchMediaType } from './negotiation.ts';
import { encodePartial, partialBytes } from './partial.ts';
import type { ListQuery } from '#apiserver/request/list-options';
import { parseListOptions } from './query-options.ts';
import { fromStorage, type ResourceEndpoint, watchEventBuckets, watchListBuckets } from './resource-endpoint.ts';
import { cborType, startHeaders } from './responses.ts';
import { storedSelectionOf } from './selection.ts';
import { columnsOf, encodeRow, encodeTable, tableHead, tableOptions } from './table.ts';
import { acceptWebSocket, agreeToWatch, isWebSocketRequest } from './websocket.ts';

/** Injection token of `--min-request-timeout` in seconds: a watch without timeoutSeconds lasts one to two times as long. */
export const MinRequestTimeout = Symbol.for('kubenest.MinRequestTimeout');
const defaultMinRequestTimeout = 1800;
const maxExactSeconds = 2 ** 33;
/** A longer timer of Node expires at once. */
const maxTimerMs = 2 ** 31 - 1;

/** A watch: GET with `?watch=` or of a deprecated path. Upstream: endpoints/handlers/get.go and watch.go. */
@Injectable()
export class WatchHandler {
  constructor(@Optional() @Inject(MinRequestTimeout) private readonly minRequestTimeout: number = defaultMinRequestTimeout) {}

  handle(context: RequestContext, endpoint: ResourceEndpoint): void | Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions, true);
    const options = parseListOptions(context.searchParams);
    const selecting = storedSelectionOf(endpoint, options, context.info.name);
    return selecting instanceof Promise
      ? selecting.then((predicate) => this.#watch(context, endpoint, negotiated, options, predicate))
      : this.#watch(context, endpoint, negotiated, options, selecting);
  }

  #watch(context: RequestContext, endpoint: ResourceEndpoint, negotiated: Negotiated, options: ListQuery, predicate: Predicate): void {
    const { store } = endpoint;
    const timeoutMs = goMilliseconds(options.timeoutSeconds) || 1000 * this.minRequestTimeout * (1 + Math.random());
    const asked = {
      scope: store.prefix(context.info.namespace),
      resourceVersion: options.resourceVersion,
      sendInitialEvents: options.sendInitialEvents ?? sendsInitialEvents(options, endpoint),
      allowBookmarks: options.allowWatchBookmarks,
      predicate,
      deadline: performance.now() + timeoutMs,
    };
    if (negotiated.mediaType === 'application/yaml') {
      // Upstream chooses the form of the stream when it has the watch, which may have failed.
      store.cacher.watch(asked, noSink).close();
      throw newNotAcceptable(streamMediaTypes(endpoint.restrictions.mediaTypes));
    }
    const frames = framesOf(context, endpoint, negotiated);
    const stream = new WatchStream(context, frames, negotiated, endpoint);
    // Upstream's deadline has passed before the first event.
    if (timeoutMs < 0) return stream.endAtOnce();
    const watch = (): WatchHandle => store.cacher.watch(asked, stream);
    const handle = context.span
      ? context.span.around('cacher.Watch', [['type', groupResourceString(store.groupResource)]], watch)
      : watch();
    stream.begin(handle, timeoutMs);
  }
}

const noSink: WatchSink = { send() {}, bufferedBytes: () => 0, end() {} };

/** Returns seconds as Go's time.Duration, which wraps around: more than 292 years are negative. */
function goMilliseconds(seconds = 0): number {
  return Math.abs(seconds) < maxExactSeconds ? 1000 * seconds : Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n)) / 1e6;
}

/**
 * Returns true for a watch without a start revision, which sends initial events and a bookmark after them. Upstream:
 * SetListOptionsDefaults in apimachinery/pkg/apis/meta/internalversion/defaults.go.
 */
function sendsInitialEvents({ resourceVersion, resourceVersionMatch }: ListQuery, { isEnabled }: ResourceEndpoint): true | undefined {
  const isLegacy = (resourceVersion === '' || resourceVersion === '0') && resourceVersionMatch === '';
  return isLegacy && isEnabled('WatchList') ? true : undefined;
}

const protobuf = 'application/vnd.kubernetes.protobuf';
/** Number of bytes of the length prefix of a protobuf frame. */
const lengthBytes = 4;

/** Encodes events. Events cache the bytes of each variant, so that all watchers share them. */
interface Frames {
  readonly variant: string;
  make(event: WatchEvent): Buffer;
  /** Preparation of large objects; default: none, because the stored bytes suffice. */
  readonly prepare?: Prepare | undefined;
  /** Encoding of the first event if it differs (a Table's first event has the column definitions). */
  readonly first?: { readonly variant: string; make(event: WatchEvent): Buffer };
}

/** Client side of a watch. */
class WatchStream implements WatchSink {
  #stream: ResponseStream | undefined;
  #isFirst = true;
  #ended = false;
  readonly #early: Buffer[] = [];
  /** True for a WebSocket, whose messages need no length prefix and are not measured: upstream's HandleWS. */
  readonly #isWebSocket: boolean;

  constructor(
    readonly context: RequestContext,
    readonly frames: Frames,
    readonly negotiated: Negotiated,
    readonly endpoint: Pick<ResourceEndpoint, 'watchEvents' | 'watchLists'>,
  ) {
    this.#isWebSocket = isWebSocketRequest(context);
  }

  begin(handle: WatchHandle, milliseconds: number): void {
    const { context } = this;
    const stream = this.#open();
    if (!stream) return handle.close();
    this.#stream = stream;
    context.span?.event('About to start writing response');
    for (const bytes of this.#early.splice(0)) stream.write(bytes);
    const timer = setTimeout(
      () => {
        handle.close();
        this.end();
      },
      Math.min(milliseconds, maxTimerMs),
    );
    stream.onDrain(() => handle.drained());
    context.exchange.onClose(() => {
      clearTimeout(timer);
      handle.close();
    });
    if (this.#ended) stream.end();
  }

  /** Answers without an event. */
  endAtOnce(): void {
    this.#open()?.end();
  }

  /** Opens the response; undefined if an invalid WebSocket request was rejected. */
  #open(): ResponseStream | undefined {
    const { context, negotiated } = this;
    if (!this.#isWebSocket || !isWebSocketRequest(context))
      return context.exchange.open(200, startHeaders(context, 200, watchMediaType(negotiated.mediaType)));
    return acceptWebSocket(context, agreeToWatch(negotiated.mediaType === 'application/json' ? 'text' : 'binary'));
  }

  prepare(event: ObjectEvent): Promise<void> | undefined {
    const { variant, prepare } = this.frames;
    return prepare && event.prepared(variant, prepare);
  }

  send(event: WatchEvent): void {
    // Upstream cannot convert an event's object to a list.
    if (this.negotiated.convert?.kind === 'PartialObjectMetadataList') return this.end();
    const { variant, make } = this.#isFirst && event.type !== 'BOOKMARK' ? (this.frames.first ?? this.frames) : this.frames;
    if (event.type !== 'BOOKMARK') this.#isFirst = false;
    const bytes = (event as { frame(variant: string, make: (event: WatchEvent) => Buffer): Buffer }).frame(variant, make);
    if (event.type === 'BOOKMARK' && event.initialEventsEnd) this.#listed();
    if (!this.#isWebSocket) observe(this.endpoint.watchEvents, watchEventBuckets, bytes.length);
    const message = this.#isWebSocket && this.negotiated.mediaType === protobuf ? bytes.subarray(lengthBytes) : bytes;
    if (this.#stream) this.#stream.write(message);
    else this.#early.push(message);
  }

  /** Records that the initial events are sent. Upstream: handlers/watch.go (shouldRecordWatchListLatency). */
  #listed(): void {
    const { info, receivedAt, span } = this.context;
    span?.event('Writing initial events done');
    const scope = info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster';
    const { watchLists } = this.endpoint;
    let series = watchLists.get(scope);
    if (!series) watchLists.set(scope, (series = newSeries(watchListBuckets, { scope })));
    observe(series, watchListBuckets, (performance.now() - receivedAt) / 1_000);
  }

  bufferedBytes(): number {
    return this.#stream?.pendingBytes ?? 0;
  }

  /** Ends the response. A slow client is disconnected, because a regular end would wait behind the unread events. */
  end(reason?: WatchEnd): void {
    this.#ended = true;
    if (reason === 'slow') this.#stream?.abort();
    else this.#stream?.end();
  }
}

const endAnnotation = { 'k8s.io/initial-events-end': 'true' };
const newline = Buffer.from('}\n');
const tableEnd = Buffer.from(']}}\n');
const heads = Object.fromEntries(
  ['ADDED', 'MODIFIED', 'DELETED'].map((type) => [type, Buffer.from(`{"type":"${type}","object":`)]),
) as Record<'ADDED' | 'MODIFIED' | 'DELETED', Buffer>;

/** Returns CBOR frames, which are converted from JSON frames. */
function cborFrames(endpoint: ResourceEndpoint, { convert }: Negotiated, json: Frames): Frames {
  const type = convert ? metaSchema.struct('meta_v1.PartialObjectMetadata') : cborType(endpoint.type);
  return {
    variant: `cbor:${json.variant}`,
    prepare: json.prepare,
    make(event) {
      const { object } = parseEncoded(json.make(event), true) as { object: unknown };
      return encodeCborWatchEvent(event.type, encodeCbor(event.type === 'ERROR' ? metaSchema.struct('meta_v1.Status') : type, object));
    },
  };
}

function framesOf(context: RequestContext, endpoint: ResourceEndpoint, negotiated: Negotiated): Frames {
  const { convert, mediaType } = negotiated;
  if (mediaType === 'application/cbor')
    return cborFrames(endpoint, negotiated, framesOf(context, endpoint, { ...negotiated, mediaType: 'application/json' }));
  const apiVersion = groupVersionString(endpoint.kind);
  if (mediaType === protobuf) {
    const type = convert ? metaSchema.struct('meta_v1.PartialObjectMetadata') : endpoint.type;
    const shown = (object: KubeObject): KubeObject => (convert ? partialObject(object, convert.version) : object);
    return {
      variant: `protobuf:${apiVersion}:${convert?.version ?? ''}`,
      prepare: prepareProtobuf,
      make: (event) =>
        encodeProtobufWatchEvent(type, event.type, event.type === 'ERROR' ? event.status : shown(objectOf(endpoint, event, apiVersion))),
    };
  }
  if (convert?.kind === 'Table') {
    const options = tableOptions(context);
    // Clients need the revision of a bookmark in any case.
    const ofBookmarks = options.includeObject === 'None' ? { ...options, includeObject: 'Metadata' as const } : options;
    const table =
      (withHeaders: boolean) =>
      (event: WatchEvent): Buffer => {
        if (event.type === 'ERROR') return errorFrame(event);
        if (event.type === 'BOOKMARK') {
          const bookmark = objectOf(endpoint, event, apiVersion);
          return jsonFrame(event.type, encodeTable(endpoint, [bookmark], versionOf(bookmark), ofBookmarks, convert.version, withHeaders));
        }
        const head = tableHead(convert.version, versionOf(event.object.object), columnsOf(endpoint), withHeaders);
        const row = encodeRow(endpoint, event.object, options, convert.version, Date.now());
        return Buffer.concat([heads[event.type], Buffer.from(head), row, tableEnd]);
      };
    const variant = `table:${options.includeObject}:${convert.version}:${apiVersion}`;
    return { variant, make: table(false), prepare: parseObject, first: { variant: `${variant}:first`, make: table(true) } };
  }
  if (convert) {
    return {
      variant: `partial:${convert.version}:${apiVersion}`,
      prepare: endpoint.conversion && parseObject,
      make(event) {
        if (event.type === 'ERROR') return errorFrame(event);
        if (event.type === 'BOOKMARK') return jsonFrame(event.type, encodePartial(objectOf(endpoint, event, apiVersion), convert.version));
        return Buffer.concat([heads[event.type], partialBytes(endpoint, event.object, convert.version), newline]);
      },
    };
  }
  return {
    variant: apiVersion,
    prepare: endpoint.conversion && parseObject,
    make(event) {
      if (event.type === 'ERROR') return errorFrame(event);
      if (event.type === 'BOOKMARK' || endpoint.conversion)
        return jsonFrame(event.type, encode(endpoint.type, objectOf(endpoint, event, apiVersion)));
      return plainFrame(event.type, event.object);
    },
  };
}

/** Encodes a frame from the stored bytes, without parsing. */
function plainFrame(type: 'ADDED' | 'MODIFIED' | 'DELETED', { bytes }: CachedObject): Buffer {
  return Buffer.concat([heads[type], bytes.subarray(0, bytes.length - 1), newline]);
}

function jsonFrame(type: string, object: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${object}}\n`);
}

function errorFrame(event: WatchEvent & { readonly type: 'ERROR' }): Buffer {
  return jsonFrame('ERROR', encode(metaSchema.struct('meta_v1.Status'), event.status));
}

const versionOf = ({ metadata }: KubeObject): ListMeta => ({ resourceVersion: metadata.resourceVersion ?? '' });

/** Returns the object of an event in the endpoint's version; for a bookmark an empty object with its resourceVersion. */
function objectOf(
  endpoint: ResourceEndpoint,
  event: (WatchEvent & { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' }) | WatchEvent,
  apiVersion: string,
): KubeObject {
  if (event.type === 'BOOKMARK') {
    const metadata = { resourceVersion: String(event.revision), ...(event.initialEventsEnd && { annotations: endAnnotation }) };
    return { kind: endpoint.kind.kind, apiVersion, metadata };
  }
  if (event.type === 'ERROR') throw new Error('an ERROR event has no object');
  return fromStorage(endpoint, event.object.object);
}

function partialObject(object: KubeObject, version: string): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}
