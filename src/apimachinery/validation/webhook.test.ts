import { expect, it } from 'vitest';
import { fieldPath } from './field.ts';
import { validateWebhookURL } from './webhook.ts';

const form = '; desired format: https://host[/path]';

it.each([
  ['https://a.com/b', []],
  ['https://a.com/%41', []],
  ['::1', [`url: Required value: url must be a valid URL: parse "::1": missing protocol scheme${form}`]],
  ['%', [`url: Required value: url must be a valid URL: parse "%": invalid URL escape "%"${form}`]],
  ['https://a.com/%zz', [`url: Required value: url must be a valid URL: parse "https://a.com/%zz": invalid URL escape "%zz"${form}`]],
  ['1:2', [`url: Required value: url must be a valid URL: parse "1:2": first path segment in URL cannot contain colon${form}`]],
  ['a\nb', [`url: Required value: url must be a valid URL: parse "a\\nb": net/url: invalid control character in URL${form}`]],
])('%j', (text, errors) => {
  expect(validateWebhookURL(fieldPath('url'), text).map(String)).toEqual(errors);
});
