import { TableFolder } from '#apimachinery/runtime/table-folder';

/** The types that every API group uses: metav1, runtime, intstr, resource, version, discovery. */
export const metaTables = new TableFolder(new URL('./', import.meta.url));
