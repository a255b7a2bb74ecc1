import { type FieldError, invalid, type Path } from '#apimachinery/validation/field';
import { isDNS1035Label } from '#apimachinery/validation/names';
import type { CustomResourceDefinitionNames } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';

/** Validates that the names that are set are DNS labels. Upstream: ValidateCustomResourceDefinitionNames. */
export function validateNames(path: Path, names: CustomResourceDefinitionNames): FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names;
  const errors: FieldError[] = [];
  const label = (place: Path, name: string): void => {
    const messages = isDNS1035Label(name);
    if (messages.length > 0) errors.push(invalid(place, name, messages.join(',')));
  };
  const kindLabel = (place: Path, name: string): void => {
    const messages = isDNS1035Label(name.toLowerCase());
    if (name !== '' && messages.length > 0)
      errors.push(invalid(place, name, `may have mixed case, but should otherwise match: ${messages.join(',')}`));
  };
  if (plural !== '') label(path.child('plural'), plural);
  if (singular !== '') label(path.child('singular'), singular);
  kindLabel(path.child('kind'), kind);
  kindLabel(path.child('listKind'), listKind);
  for (const [i, name] of shortNames.entries()) label(path.child('shortNames').index(i), name);
  if (kind !== '' && kind === listKind) errors.push(invalid(path.child('listKind'), listKind, 'kind and listKind may not be the same'));
  for (const [i, category] of categories.entries()) label(path.child('categories').index(i), category);
  return errors;
}
