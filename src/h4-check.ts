import { readFileSync, writeFileSync } from 'node:fs';
import { groups } from '#kubernetes/apis/groups';
import { tables } from '#kubernetes/schema/schema';
import { apiExtensionsGroup } from '#apiextensions-apiserver/apis/apiextensions/group';
import { tables as xt } from '#apiextensions-apiserver/schema/schema';
import { apiRegistrationGroup } from '#kube-aggregator/apis/apiregistration/group';
import { tables as at } from '#kube-aggregator/schema/schema';
import { groupVersionDocument, groupDocument, rootDocument, rootDocumentNames } from '#apiserver/endpoints/openapi/group-version-document';
import { joinSwagger } from '#apimachinery/openapi/swagger';
import { OpenApiSchemas } from '#apimachinery/openapi/schemas';
import { metaTables } from '#apimachinery/meta/schema/tables';
import { encodeGnostic } from '#apimachinery/openapi/gnostic';
const docs: any[] = [];
for (const [gs, t] of [[groups, tables], [[apiExtensionsGroup], xt], [[apiRegistrationGroup], at]] as any) for (const g of gs) {
  for (const v of g.versions) docs.push(groupVersionDocument({ group: g.group, version: v.version }, g.resources, t));
  if (g.group) docs.push(groupDocument(g.group, t));
}
for (const n of rootDocumentNames) docs.push(rootDocument(n, tables));
const t0 = performance.now(); const full = new OpenApiSchemas(metaTables); const seeds: any = {}; for (const t of ['meta_v1.DeleteOptions', 'meta_v1.WatchEvent']) seeds[full.name(t)] = full.component(t, new Set()); const it = joinSwagger(docs, seeds); let r = it.next(); let worst = 0; let last = performance.now();
while (!r.done) { worst = Math.max(worst, performance.now() - last); last = performance.now(); r = it.next(); }
const sw: any = r.value; console.log('build', performance.now() - t0, 'worst', worst);
const counts = new Map<string, [number, string]>();
function note(path: string, a: any, b: any) { const parts = path.split('|'); const k = parts.slice(-2).join('|') + ' ' + (parts[1] ?? ''); const c = counts.get(k); if (c) c[0]++; else counts.set(k, [1, `${path}: got ${JSON.stringify(a)?.slice(0, 300)} want ${JSON.stringify(b)?.slice(0, 300)}`]); }
function diff(a: any, b: any, path: string) { if (a === b) return; if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || Array.isArray(a) !== Array.isArray(b)) return note(path, a, b); for (const k of new Set([...Object.keys(a), ...Object.keys(b)])) diff(a[k], b[k], `${path}|${k}`); }
const raw = readFileSync('/tmp/ref-h4-docs/v2.json', 'utf8').trim(); const want = JSON.parse(raw);
for (const [p, item] of Object.entries(sw.paths) as any) if (p.includes('apiregistration')) for (const op of Object.values(item) as any) if (op['x-kubernetes-group-version-kind']) { const { group, version, kind } = op['x-kubernetes-group-version-kind']; op['x-kubernetes-group-version-kind'] = { group, version, kind }; }
const text = JSON.stringify(sw);
diff(JSON.parse(text), want, '');
for (const [k, [n, ex]] of counts) console.log(n, k, '::', ex);
console.log('exact', text === JSON.stringify(want), 'raw', text === raw);
writeFileSync('/tmp/h4/v2.json', text);

const t5 = performance.now(); const g = encodeGnostic(sw); let x = g.next(); let w2 = 0, l2 = performance.now(); while (!x.done) { w2 = Math.max(w2, performance.now() - l2); l2 = performance.now(); x = g.next(); }
const pb = x.value as Buffer; w2 = Math.max(w2, performance.now() - l2);
console.log('pb ms', performance.now() - t5, 'worst step', w2, pb.length);
const wpb = readFileSync('/tmp/ref-h4-docs/v2.pb'); console.log('pb equal', pb.equals(wpb), wpb.length);
if (!pb.equals(wpb)) { let i = 0; while (pb[i] === wpb[i]) i++; console.log(i, JSON.stringify(pb.subarray(i - 200, i + 150).toString('latin1')), '\n', JSON.stringify(wpb.subarray(i - 200, i + 150).toString('latin1'))); }
function fields(b: Buffer) { const out: [number, Buffer | number][] = []; let i = 0; const vi = () => { let r = 0, m = 1; for (;;) { const x = b[i++]!; r += (x & 127) * m; if (x < 128) return r; m *= 128; } }; while (i < b.length) { const t = vi(); if (t % 8 === 2) { const l = vi(); out.push([t >> 3, b.subarray(i, i + l)]); i += l; } else if (t % 8 === 1) { out.push([t >> 3, b.subarray(i, i + 8)]); i += 8; } else out.push([t >> 3, vi()]); } return out; }
const defs = (b: Buffer) => new Map(fields(fields(b).find(([n]) => n === 9)![1] as Buffer).map(([, m]) => { const f = fields(m as Buffer); return [String(f[0]![1]), f[1]![1] as Buffer] as const; }));
const A = defs(pb), W = defs(wpb); let shown = 0;
for (const [n, w] of W) { const a = A.get(n)!; if (!a.equals(w) && shown++ < 4) { let i = 0; while (a[i] === w[i]) i++; console.log(n, a.length, w.length, JSON.stringify(a.subarray(Math.max(0, i - 60), i + 250).toString('latin1')), '\n  ', JSON.stringify(w.subarray(Math.max(0, i - 60), i + 250).toString('latin1'))); } }
console.log(shown, [...A.keys()].join() === [...W.keys()].join());
{ const w = JSON.stringify(want); let i = 0; while (text[i] === w[i]) i++; console.log('json', i, text.length, w.length, text.slice(i - 150, i + 150), '\n', w.slice(i - 150, i + 150)); let j = 0; while (raw[j] === w[j]) j++; console.log('raw', j, raw.slice(j - 20, j + 50)); }
