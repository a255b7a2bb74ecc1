/** Types of the package, which has none of its own. */
declare module 'passport-strategy' {
  class Strategy {}
  export default Strategy;
}
