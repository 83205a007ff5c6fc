/**
 * SQL: whether rows are written as processes of 1.0 read them, since such a process may be running. Both forms are read. A
 * plan has it as a constant.
 */
export const WRITES_AS_BEFORE = 'writes_as_1_0()'
