import {
  type AlterTableCmd,
  type AlterTableStmt,
  type ColumnDef,
  type Constraint,
  type DropStmt,
  type IndexStmt,
  type Node,
  type ParseResult,
  parse,
  type RangeVar,
} from 'libpg-query'
import type { Migration } from '../../../src/database/migrations/files.js'

/** What a migration may do, and which of its statements breaks a rule. */
interface Reading {
  migration: Pick<Migration, 'isTransaction' | 'contractAfter'>
  /** The tables and sequences that the migration itself creates: nobody uses them yet. */
  created: Set<string>
}

const IN_BATCHES = 'changes rows of a table that may be large: let a job of the service do it in slices'
const NEXT_VERSION = 'removes what the version before may need: put it into a file that begins with "-- contract after"'

/**
 * Finds the statements of a migration that would keep writers of a large table waiting, or that would break processes
 * of the version before. A statement that is not known to be harmless counts as harmful.
 */
export async function findHarm(
  migration: Pick<Migration, 'text' | 'isTransaction' | 'contractAfter'>,
): Promise<string[]> {
  const { stmts = [] }: ParseResult = await parse(migration.text)
  const reading: Reading = { migration, created: new Set() }
  return stmts.flatMap(({ stmt = {} as Node }) => judgeStatement(stmt, reading))
}

function judgeStatement(stmt: Node, reading: Reading): string[] {
  if ('CreateStmt' in stmt) {
    reading.created.add(nameOf(stmt.CreateStmt))
    return []
  }
  if ('CreateSeqStmt' in stmt) {
    reading.created.add(stmt.CreateSeqStmt.sequence?.relname ?? '')
    return []
  }
  if ('AlterSeqStmt' in stmt) {
    const name = stmt.AlterSeqStmt.sequence?.relname ?? ''
    return reading.created.has(name) ? [] : [`a sequence that is in use is changed (${name})`]
  }
  if ('AlterTableStmt' in stmt) return judgeAlterTable(stmt.AlterTableStmt, reading)
  if ('IndexStmt' in stmt) return judgeIndex(stmt.IndexStmt, reading)
  if ('DropStmt' in stmt) return judgeDrop(stmt.DropStmt, reading)
  if ('InsertStmt' in stmt) return judgeRows(stmt.InsertStmt, reading)
  if ('UpdateStmt' in stmt) return judgeRows(stmt.UpdateStmt, reading)
  if ('DeleteStmt' in stmt) return judgeRows(stmt.DeleteStmt, reading)
  const [kind = ''] = Object.keys(stmt)
  return HARMLESS.has(kind) ? [] : [`${kind} is not known to be harmless`]
}

const HARMLESS = new Set(['ViewStmt', 'CreateFunctionStmt', 'CreateExtensionStmt', 'CommentStmt'])

function judgeRows(statement: { relation?: RangeVar }, { created }: Reading): string[] {
  const name = nameOf(statement)
  return created.has(name) ? [] : [`a statement ${IN_BATCHES} (${name})`]
}

function judgeIndex(index: IndexStmt, { created, migration }: Reading): string[] {
  if (created.has(nameOf(index))) return []
  return index.concurrent && !migration.isTransaction ? [] : [`the index ${index.idxname} is not built CONCURRENTLY`]
}

function judgeDrop({ removeType, concurrent }: DropStmt, { migration }: Reading): string[] {
  if (removeType === 'OBJECT_INDEX' && !concurrent) return ['an index is not dropped CONCURRENTLY']
  return migration.contractAfter === null ? [`a DROP ${NEXT_VERSION}`] : []
}

function judgeAlterTable(statement: AlterTableStmt, reading: Reading): string[] {
  const table = nameOf(statement)
  if (reading.created.has(table)) return []
  const commands = (statement.cmds ?? []).map((node) => (node as { AlterTableCmd: AlterTableCmd }).AlterTableCmd)
  return commands.flatMap((command) => judgeAlter(command, reading).map((harm) => `${table}: ${harm}`))
}

function judgeAlter({ subtype, def }: AlterTableCmd, { migration }: Reading): string[] {
  switch (subtype) {
    case 'AT_AddColumn':
      return judgeColumn((def as { ColumnDef: ColumnDef }).ColumnDef)
    case 'AT_AddConstraint':
      return judgeConstraint((def as { Constraint: Constraint }).Constraint)
    case 'AT_SetRelOptions':
    case 'AT_ResetRelOptions':
    case 'AT_SetStatistics':
    case 'AT_ColumnDefault':
      return []
    case 'AT_ValidateConstraint':
      return migration.isTransaction ? ['a constraint is validated within a transaction, which keeps its lock'] : []
    case 'AT_DropColumn':
    case 'AT_DropConstraint':
    case 'AT_DropNotNull':
      return migration.contractAfter === null ? [`${subtype} ${NEXT_VERSION}`] : []
    default:
      return [`${subtype} is not known to be harmless`]
  }
}

function judgeColumn({ colname, constraints = [] }: ColumnDef): string[] {
  const given = constraints.map((node) => (node as { Constraint: Constraint }).Constraint)
  const fallback = given.find(({ contype }) => contype === 'CONSTR_DEFAULT')
  return given.flatMap(({ contype }) => {
    switch (contype) {
      case 'CONSTR_NULL':
        return []
      case 'CONSTR_DEFAULT':
        return isConstant(fallback?.raw_expr)
          ? []
          : [`the default of the column ${colname} is not a constant: all rows would be rewritten`]
      case 'CONSTR_NOTNULL':
        return fallback
          ? []
          : [`the column ${colname} is NOT NULL without a default: rows of the version before lack it`]
      default:
        return [`the column ${colname} has a constraint (${contype}) that all rows are checked for: add it NOT VALID`]
    }
  })
}

function judgeConstraint({ conname, skip_validation: isNotValid, indexname }: Constraint): string[] {
  if (isNotValid || indexname) return []
  return [`the constraint ${conname} is checked for all rows: add it NOT VALID, or USING INDEX`]
}

function isConstant(expression: Node | undefined): boolean {
  if (expression === undefined) return false
  if ('TypeCast' in expression) return isConstant(expression.TypeCast.arg)
  return 'A_Const' in expression
}

function nameOf({ relation }: { relation?: RangeVar }): string {
  return relation?.relname ?? ''
}
