/**
 * Injection token of the plugin's own validated configuration: an instance of the class that its decorator names as
 * `configuration`.
 */
export const Configuration = Symbol.for('kubenest.Configuration');
