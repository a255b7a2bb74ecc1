import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { decode, encode } from '#apimachinery/runtime/codec';
import { parseJson } from '#apimachinery/runtime/json';
import { decodeProtobuf, encodeProtobuf } from '#apimachinery/runtime/protobuf';
import { schema, scheme } from '#kubernetes/schema/schema';
import { schema as crd } from '#apiextensions-apiserver/schema/schema';
import { schema as agg } from '#kube-aggregator/schema/schema';
const all = JSON.parse(readFileSync('/tmp/pbfix/all.json','utf8'));
for (const f of all) {
  it(f.id, () => {
    const reg = f.gv.startsWith('apiext') ? crd : f.gv.startsWith('apireg') ? agg : schema;
    const t = reg === crd ? 'apiextensions_v1.CustomResourceDefinition' : reg === agg ? 'apiregistration_v1.APIService' : scheme.typeName(f.gv, f.kind)!;
    const type = reg.struct(t);
    const object = decode(type, parseJson(Buffer.from(f.json)).value).object;
    const bytes = encodeProtobuf(type, object);
    expect(bytes.toString('latin1')).toBe(Buffer.from(f.protobuf, 'base64').toString('latin1'));
    const back = decodeProtobuf(type, Buffer.from(f.protobuf, 'base64'));
    expect(encode(type, back)).toBe(f.json.trimEnd());
    expect(back).toEqual(object);
  });
}
