// Declares the module autobahn, which ships no types; `autobahn.ts` types what is used of it, and no other file imports
// it.
declare module 'autobahn' {
  const autobahn: unknown
  export = autobahn
}
