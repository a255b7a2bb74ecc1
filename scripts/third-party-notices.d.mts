/** Returns the names, versions, licences and notices of packages, whose folders are relative to `root`. */
export function noticesText(root: string, folders: readonly string[]): string;
