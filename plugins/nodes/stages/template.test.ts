import fc from 'fast-check';
import { leastThreadTime } from '#apimachinery/testing/least-thread-time';
import { describe, expect, it } from 'vitest';
import { compileTemplate } from './template.ts';
import { TemplateError } from './template-parser.ts';

const data = { name: 'web', items: [{ name: 'a', n: 1 }, { name: 'b' }], labels: { z: '1', y: '2' }, empty: {}, yes: true };
const render = (text: string): string =>
  compileTemplate(text)(data, { Twice: (value) => `${String(value)}${String(value)}`, Ip: () => '10.0.0.1' });

describe('a template', () => {
  it.each([
    ['plain', 'plain'],
    ['{{ .name }}', 'web'],
    ['{{ .missing }}', '<no value>'],
    ['{{ .missing.deeper }}', '<no value>'],
    ['a {{- " b " -}} c', 'a b c'],
    ['{{/* comment */}}x', 'x'],
    ['{{ .name | Quote }} {{ .yes | Quote }} {{ .missing | Quote }}', '"web" "true" "null"'],
    ['{{ if .missing }}a{{ else if eq .name "web" }}b{{ else }}c{{ end }}', 'b'],
    ['{{ if eq .missing "x" }}a{{ else }}b{{ end }}', 'b'],
    ['{{ range .items }}{{ .name }},{{ end }}', 'a,b,'],
    ['{{ range $i, $item := .items }}{{ $i }}={{ $item.name }};{{ end }}', '0=a;1=b;'],
    ['{{ range .missing }}a{{ else }}none{{ end }}', 'none'],
    ['{{ range $k, $v := .labels }}{{ $k }}{{ $v }}{{ end }}', 'y2z1'],
    ['{{ with .items }}{{ index . 0 | Quote }}{{ end }}', `${JSON.stringify('{"name":"a","n":1}')}`],
    ['{{ with .empty }}a{{ else }}{{ .name }}{{ end }}', 'web'],
    ['{{ $x := 1 }}{{ if .yes }}{{ $x = 2 }}{{ end }}{{ $x }}', '2'],
    ['{{ $x := 1 }}{{ if .yes }}{{ $x := 2 }}{{ end }}{{ $x }}', '1'],
    ['{{ $root := . }}{{ range .items }}{{ $root.name }}{{ end }}', 'webweb'],
    ['{{ or .missing "d" }} {{ and .name .missing }}', 'd <no value>'],
    ['{{ index .labels "z" }} {{ index (or .missing dict) "a" }}', '1 <no value>'],
    ['{{ printf "kwok-%s %d %q" .name 3 "x" }}', 'kwok-web 3 "x"'],
    ['{{ Twice .name }} {{ Ip }} {{ (index .items 1).name }}', 'webweb 10.0.0.1 b'],
    ['{{ not .yes }} {{ ne 1 2 }} {{ lt 1 2 }} {{ ge 2 2 }} {{ len .items }}', 'false true true true 2'],
    ['{{ or $.architecture `""` }}', '""'],
    ['{{ list "a" .name | join "-" }} {{ default "d" .missing }} {{ add 1 2 | sub 5 }}', 'a-web d 2'],
    ['x: {{ YAML .labels 1 }}', 'x: \n  {"z":"1","y":"2"}\n  '],
    ['{{ .__proto__ }} {{ .constructor }} {{ index .labels "constructor" }}', '<no value> <no value> <no value>'],
    ['{{ "}}" }}', '}}'],
  ])('%s', (text, want) => {
    expect(render(text)).toBe(want);
  });

  it.each([
    '{{ .name',
    '{{ if .yes }}',
    '{{ end }}',
    '{{ nothing }}',
    '{{ $x }}',
    '{{ .name.first }}',
    '{{ template "a" }}',
    '{{ index .items 5 }}',
    '{{ eq 1 "a" }}',
    '{{ range .name }}{{ end }}',
    '{{ constructor }}',
    '{{ range .items }}{{ range $.items }}{{ range $.items }}{{ printf "%s" $.name | Twice | Twice | Twice | Twice | nope }}{{ end }}{{ end }}{{ end }}',
  ])('%s is refused', (text) => {
    expect(() => render(text)).toThrow(TemplateError);
  });

  it('has a bounded execution and output', () => {
    const many = { items: Array.from({ length: 1_000 }, (_, i) => i) };
    expect(() => compileTemplate('{{ range .items }}{{ range $.items }}x{{ end }}{{ end }}')(many, {})).toThrow('does too much');
    expect(() => compileTemplate(`{{ range .items }}${'x'.repeat(2_000)}{{ end }}`)(many, {})).toThrow('does too much');
  });

  it('either renders any text or is refused', () => {
    const part = fc.constantFrom(
      '{{',
      '}}',
      ' .items ',
      'if',
      'range',
      'else',
      'end',
      ' $x',
      ':=',
      '"a"',
      '|',
      '(',
      ')',
      ' index ',
      ' 1 ',
      '-',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 25 }), (parts) => {
        try {
          render(parts.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
      }),
    );
  });

  const repeat = (text: string): string => `{{ range $.items }}${text}{{ end }}`;
  it.each([
    ['a text that doubles', `{{ $x := "0123456789abcdef" }}${repeat('{{ $x = printf "%s%s" $x $x }}')}`],
    ['a list that doubles', `{{ $x := list 1 }}${repeat('{{ $x = list $x $x }}')}{{ $x }}`],
    [
      'a text that is joined often',
      `{{ $x := printf "${'x'.repeat(10_000)}" }}${repeat(`{{ $y := join "" (list${' $x'.repeat(100)}) }}`)}`,
    ],
    ['a large object that is written often', repeat(repeat('{{ $y := YAML $ }}'))],
    ['a wide object that is tested often', repeat(repeat('{{ if $.wide }}{{ end }}'))],
  ])('%s ends before it costs time', (_, template) => {
    const data = {
      items: Array.from({ length: 1_000 }, (__, i) => i),
      wide: Object.fromEntries(Array.from({ length: 20_000 }, (__, i) => [`k${i}`, 'v'])),
    };
    const refuse = (): void => expect(() => compileTemplate(template)(data, {})).toThrow('does too much');
    expect(leastThreadTime(refuse, 100)).toBeLessThan(100);
  });
});
