/** Named formats. Upstream: apiserver/pkg/cel/library/format.go. */
import { parseRequestUri, UrlError } from '#apimachinery/runtime/url';
import { isQualifiedName, isValidLabelValue, nameIsDNS1035Label, nameIsDNSLabel, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { func, type FunctionDeclaration, global, member } from '../check/declarations.ts';
import { listType, optionalType, stringType, structType } from '../check/types.ts';
import type { Library } from '../environment.ts';
import { parseRfc3339 } from '../runtime/time.ts';
import { type CelObject, noSuchOverload, Optional, Timestamp, type Value, ValueList } from '../runtime/values.ts';

const formatType = structType('kubernetes.NamedFormat');

/** A format: its validation, and the size of its pattern, which determines the cost. */
class Format implements CelObject {
  readonly celType = formatType;

  constructor(
    readonly name: string,
    readonly maxRegexSize: number,
    readonly validate: (text: string) => readonly string[],
  ) {}

  equals(other: Value): Value {
    return other instanceof Format ? other.name === this.name : noSuchOverload();
  }
}

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function unless(valid: (text: string) => boolean, message: string): (text: string) => readonly string[] {
  return (text) => (valid(text) ? [] : [message]);
}

function isUri(text: string): readonly string[] {
  try {
    parseRequestUri(text);
    return [];
  } catch (error) {
    if (error instanceof UrlError) return [error.message];
    throw error;
  }
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && parseRfc3339(`${text}T00:00:00Z`) instanceof Timestamp;
}

const formats: ReadonlyMap<string, Format> = new Map([
  ['dns1123Label', new Format('DNS1123Label', 30, (text) => nameIsDNSLabel(text, false))],
  ['dns1123Subdomain', new Format('DNS1123Subdomain', 60, (text) => nameIsDNSSubdomain(text, false))],
  ['dns1035Label', new Format('DNS1035Label', 30, (text) => nameIsDNS1035Label(text, false))],
  ['qualifiedName', new Format('QualifiedName', 60, isQualifiedName)],
  ['dns1123LabelPrefix', new Format('DNS1123LabelPrefix', 30, (text) => nameIsDNSLabel(text, true))],
  ['dns1123SubdomainPrefix', new Format('DNS1123SubdomainPrefix', 60, (text) => nameIsDNSSubdomain(text, true))],
  ['dns1035LabelPrefix', new Format('DNS1035LabelPrefix', 30, (text) => nameIsDNS1035Label(text, true))],
  ['labelValue', new Format('LabelValue', 40, isValidLabelValue)],
  ['uri', new Format('URI', 1103, isUri)],
  [
    'uuid',
    new Format(
      'uuid',
      70,
      unless((text) => uuidPattern.test(text), 'does not match the UUID format'),
    ),
  ],
  [
    'byte',
    new Format(
      'byte',
      84,
      unless((text) => base64Pattern.test(text), 'invalid base64'),
    ),
  ],
  ['date', new Format('date', 71, unless(isDate, 'invalid date'))],
  [
    'datetime',
    new Format(
      'datetime',
      71,
      unless((text) => parseRfc3339(text) instanceof Timestamp, 'invalid datetime'),
    ),
  ],
]);

const functions: readonly FunctionDeclaration[] = [
  func(
    'validate',
    member('format-validate', [formatType, stringType], optionalType(listType(stringType)), (format: Format, text: string) => {
      const wrong = format.validate(text);
      return wrong.length === 0 ? Optional.none : new Optional(new ValueList(wrong));
    }),
  ),
  func(
    'format.named',
    global('format-named', [stringType], optionalType(formatType), (name: string) => {
      const format = formats.get(name);
      return format ? new Optional(format) : Optional.none;
    }),
  ),
  ...[...formats].map(([name, format]) =>
    func(
      `format.${name}`,
      global(`format.${name}`, [], formatType, () => format),
    ),
  ),
];

export const formatLibrary: Library = { functions, types: [formatType] };
