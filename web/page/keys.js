// Objects that are tables: their keys with types.

/// Whether a table has a key; not those that every object inherits.
/**
 * @template {object} Table
 * @param {Table} table
 * @param {PropertyKey} key
 * @returns {key is keyof Table}
 */
export function hasKey(table, key) { return Object.hasOwn(table, key); }

/// The keys of a table that has no further ones than its type says.
/** @template {object} Table @param {Table} table */
export function keysOf(table) { return /** @type {(keyof Table & string)[]} */ (Object.keys(table)); }
