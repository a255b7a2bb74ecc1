/** Maps each advisory on HTTP/2 to an attack of budget.test.ts, which runs it on both implementations. */
import { describe, expect, it } from 'vitest';
import { attacks } from './attacks.ts';

const advisories = [
  { cve: 'CVE-2016-1544', name: 'an HPACK table that grows during decoding', rows: ['HPACK bomb'] },
  { cve: 'CVE-2016-6581', name: 'an HPACK bomb', rows: ['HPACK bomb'] },
  { cve: 'CVE-2019-9511', name: 'data dribble', rows: ['lists with a window of 0', 'lists with a window that grows by single octets'] },
  { cve: 'CVE-2019-9512', name: 'a flood of PING', rows: ['PING'] },
  { cve: 'CVE-2019-9513', name: 'a loop of priorities', rows: ['PRIORITY'] },
  { cve: 'CVE-2019-9514', name: 'a flood of resets', rows: ['malformed requests without reading the resets'] },
  { cve: 'CVE-2019-9515', name: 'a flood of SETTINGS', rows: ['SETTINGS'] },
  { cve: 'CVE-2019-9516', name: 'empty fields', rows: ['fields with empty names and values'] },
  {
    cve: 'CVE-2019-9517',
    name: 'answers that wait inside',
    rows: ['lists with a window of 0', 'unread lists with an open window'],
  },
  { cve: 'CVE-2019-9518', name: 'a flood of empty frames', rows: ['empty DATA'] },
  { cve: 'CVE-2020-11080', name: 'SETTINGS with thousands of entries', rows: ['SETTINGS with many entries'] },
  { cve: 'CVE-2022-41717', name: 'field names that are cached', rows: ['field names that never repeat'] },
  { cve: 'CVE-2022-41723', name: 'HPACK in quadratic time', rows: ['an HPACK string in single octets'] },
  { cve: 'CVE-2023-44487', name: 'rapid reset', rows: ['rapid reset'] },
  { cve: 'CVE-2023-45288', name: 'endless headers', rows: ['CONTINUATION of one octet', 'endless large CONTINUATION'] },
  {
    cve: 'CVE-2024-27316',
    name: 'a flood of CONTINUATION',
    rows: ['CONTINUATION of one octet', 'empty CONTINUATION', 'endless large CONTINUATION'],
  },
  { cve: 'CVE-2024-27983', name: 'connections that end within a header block', rows: ['connections that end within a header block'] },
  { cve: 'CVE-2024-28182', name: 'unlimited CONTINUATION', rows: ['CONTINUATION of one octet', 'empty CONTINUATION'] },
  {
    cve: 'CVE-2025-8671',
    name: 'made-you-reset',
    rows: ['made-you-reset by a window update of 0', 'made-you-reset by DATA after END_STREAM'],
  },
];

describe('advisories on HTTP/2', () => {
  it.each(advisories)('$cve: $name is tested on both implementations', ({ cve, rows }) => {
    expect(attacks.filter(({ cves }) => cves?.includes(cve)).map(({ name }) => name)).toEqual(rows);
  });

  it("every attack's advisory is listed", () => {
    const listed = new Set(advisories.map(({ cve }) => cve));
    expect(attacks.flatMap(({ cves }) => cves ?? []).filter((cve) => !listed.has(cve))).toEqual([]);
  });
});
