import type { TargetName } from './targets.ts';

/** A reviewed difference. Classes are those of `Outcome`; those of a connection start with `connection`. */
export interface Reviewed {
  /** Matches the names of mutations. */
  readonly mutation: RegExp;
  readonly peers: readonly Exclude<TargetName, 'own'>[];
  /** Outcome of the own implementation. */
  readonly ours: RegExp;
  /** Outcome of the peer. */
  readonly theirs: RegExp;
  /** The sentence of the RFC that permits the own outcome. */
  readonly rfc: string;
}

const nghttp2 = ['nghttp2'] as const;
const go = ['go'] as const;
const both = ['nghttp2', 'go'] as const;
/** Matches a served request, however much of the response has arrived. */
const served = /^(answer 2xx|partial 2xx|none)$/;
const refused = /^(answer|partial) 4xx$/;
const reset = /^reset$/;
const goesOn = /^connection (open|closed)/;
const isReset = /^connection open, a stream reset$/;
const error = /^connection error$/;

export const reviewed: readonly Reviewed[] = [
  {
    mutation: /./,
    peers: both,
    ours: isReset,
    theirs: error,
    rfc: 'RFC 9113, 5.4.1: "an endpoint MAY choose to treat a stream error as a connection error."',
  },
  {
    mutation: /./,
    peers: both,
    ours: error,
    theirs: isReset,
    rfc: 'RFC 9113, 5.4.1: "an endpoint MAY choose to treat a stream error as a connection error."',
  },
  {
    mutation: /^distorted octets|^a frame larger/,
    peers: both,
    ours: /^connection waiting$/,
    theirs: error,
    rfc: 'RFC 9113, 4.1: a frame is its head and its payload: one that is not allowed is refused when its payload, of 256 KiB at most, is there',
  },
  // nghttp2 ignores malformed fields and serves the rest; Go accepts white space around values.
  {
    mutation: /^(the (empty )?name|an empty name|the value|the padded value|a control character in trailers)/,
    peers: nghttp2,
    ours: reset,
    theirs: /^(answer|partial|none)/,
    rfc: 'RFC 9113, 8.2.1: "A request or response that contains a field that violates any of these conditions MUST be treated as malformed"',
  },
  {
    mutation: /^(the padded value|content-length "( 4|4 )")/,
    peers: go,
    ours: reset,
    theirs: /^(answer|partial|none)/,
    rfc: 'RFC 9113, 8.2.1: "A field value MUST NOT start or end with an ASCII whitespace character"',
  },
  {
    mutation: /^(the field|te: )/,
    peers: go,
    ours: reset,
    theirs: refused,
    rfc: 'RFC 9113, 8.1.1: "a server MAY send an HTTP response prior to closing or resetting the stream."',
  },
  {
    mutation: /^(connection|te: gzip) in trailers/,
    peers: go,
    ours: reset,
    theirs: served,
    rfc: 'RFC 9113, 8.2.2: "Any message containing connection-specific header fields MUST be treated as malformed"',
  },
  {
    mutation: /^the method "(G T|G\(T)"/,
    peers: go,
    ours: reset,
    theirs: /^(answer|partial|none)/,
    rfc: 'RFC 9110, 9.1: "method = token"',
  },
  {
    mutation: /^the path "\/ec ho"/,
    peers: go,
    ours: reset,
    theirs: served,
    rfc: 'RFC 9113, 8.3.1: ":path" is "the absolute path and an optional query", which have no spaces (RFC 3986, 3.3)',
  },
  {
    mutation: /^te twice/,
    peers: go,
    ours: served,
    theirs: refused,
    rfc: 'RFC 9113, 8.2.2: "The TE header field MAY be present in an HTTP/2 request; when it is, it MUST NOT contain any value other than \'trailers\'"',
  },
  {
    mutation: /^(no :authority|:authority empty|the path "(\*|\/ec)|the authority)/,
    peers: nghttp2,
    ours: served,
    theirs: reset,
    rfc: 'RFC 9113, 8.3.1: ":authority" may be missing; Go serves what nghttp2 holds to more of RFC 3986',
  },
  {
    mutation: /^(two hosts|another host than :authority|the authority "(a b|a\/b|caf\xe9)"|the path "https:)/,
    peers: both,
    ours: reset,
    theirs: served,
    rfc: 'RFC 9113, 8.3.1: "A server SHOULD treat a request as malformed if it contains a Host header field that identifies an entity that differs from the entity in the \':authority\' pseudo-header field."; :authority is the authority of RFC 3986, :path begins with "/"',
  },
  {
    mutation: /^the scheme "(HTTPS|ftp)"/,
    peers: nghttp2,
    ours: reset,
    theirs: served,
    rfc: 'RFC 9113, 8.3.1: ":scheme" is not restricted to "http" and "https"; Go refuses others, and so does this server',
  },
  {
    mutation: /content-length in trailers/,
    peers: both,
    ours: reset,
    theirs: /^(answer|partial|none)/,
    rfc: 'RFC 9110, 6.5.1: what describes the framing of a message is no trailer',
  },
  // Go does not check the length without a body.
  {
    mutation: /^content-length.*( without a body|: 4 and|: of a head)/,
    peers: go,
    ours: reset,
    theirs: /^(answer|partial|none)/,
    rfc: 'RFC 9113, 8.1.1: "A request or response is also malformed if the value of a content-length header field does not equal the sum of the DATA frame payload lengths"',
  },
  {
    mutation: /^RST_STREAM, stream closed/,
    peers: go,
    ours: goesOn,
    theirs: error,
    rfc: 'RFC 9113, 5.1: an endpoint "might receive a WINDOW_UPDATE or RST_STREAM frame from its peer" after it has ended a stream',
  },
  {
    mutation: /^a frame of type 2 on stream 0/,
    peers: nghttp2,
    ours: error,
    theirs: goesOn,
    rfc: 'RFC 9113, 6.3: "If a PRIORITY frame is received with a stream identifier of 0x00, the recipient MUST respond with a connection error"',
  },
  {
    mutation: /depend on themselves|depends on itself/,
    peers: both,
    ours: goesOn,
    theirs: error,
    rfc: 'RFC 9113, 5.3.2: the priorities of RFC 7540 are deprecated, and with them what a stream may depend on',
  },
  {
    mutation: /^an acknowledgement of no PING/,
    peers: nghttp2,
    ours: goesOn,
    theirs: error,
    rfc: 'RFC 9113, 6.7: says nothing of an acknowledgement that no PING asked for; it is counted as a frame that asks for nothing',
  },
  {
    mutation: /^(a setting twice|99 settings)/,
    peers: go,
    ours: goesOn,
    theirs: error,
    rfc: 'RFC 9113, 6.5.3: "The values in the SETTINGS frame MUST be processed in the order they appear"',
  },
  {
    mutation: /^HPACK: a table update in the middle/,
    peers: go,
    ours: error,
    theirs: goesOn,
    rfc: 'RFC 7541, 4.2: "This dynamic table size update MUST occur at the beginning of the first header block following the change"',
  },
  {
    mutation: /^(HEADERS|DATA)( that ends| behind RST_STREAM)?, stream (closed|open)|^HEADERS behind RST_STREAM|^DATA behind RST_STREAM/,
    peers: both,
    ours: /^(connection open|none|answer 2xx)$/,
    theirs: /^(connection error|connection open, a stream reset|reset)$/,
    rfc: 'RFC 9113, 5.1: "An endpoint MAY treat receipt of any other type of frame on a closed stream as a connection error"',
  },
  {
    mutation: /^the path "\/%zz"/,
    peers: nghttp2,
    ours: reset,
    theirs: /^(answer|partial|none)/,
    rfc: 'RFC 9113, 8.3.1: ":path" is the path and query of a URI, of which RFC 3986, 2.1 has an escape as two hexadecimal digits; Go refuses it, too',
  },
  {
    mutation: /^HEADERS with a lower number than before/,
    peers: nghttp2,
    ours: error,
    theirs: goesOn,
    rfc: 'RFC 9113, 5.1.1: a new stream has a higher number than all before, and an unexpected number is a connection error; Go refuses it, too',
  },
];
