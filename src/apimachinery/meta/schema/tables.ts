import { TableFolder } from '#apimachinery/runtime/table-folder';

/** Tables of types that all API groups use: metav1, runtime, intstr, resource, version, discovery. */
export const metaTables = new TableFolder(new URL('./', import.meta.url));
