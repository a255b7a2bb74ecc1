import type { GroupVersionKind, KubeObject } from '#apimachinery/meta/types';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { DecodeError, encodeJson } from '#apimachinery/runtime/json/json';
import type { ObjectForms } from '#apiserver/admission/object-forms';

/**
 * Objects of a kind without a known type, such as a custom resource of the cluster. They have one form. The cluster's server checks and
 * defaults what plugins change.
 */
export class UntypedForms implements ObjectForms {
  readonly equivalents: ObjectForms['equivalents'] = [];

  convert(object: KubeObject): KubeObject {
    return object;
  }

  encode(object: KubeObject): string {
    return encodeJson(object);
  }

  decode(document: unknown, { kind }: GroupVersionKind): KubeObject {
    if (!isJsonObject(document)) throw new DecodeError(`an object of kind ${kind} must be a JSON object`);
    document['metadata'] ??= {};
    if (!isJsonObject(document['metadata'])) throw new DecodeError(`metadata of an object of kind ${kind} must be a JSON object`);
    return document as unknown as KubeObject;
  }

  complete(object: KubeObject): KubeObject {
    return object;
  }

  revise(object: KubeObject): KubeObject {
    return object;
  }

  shape(): undefined {
    return undefined;
  }
}
