import { ModuleKind, ScriptTarget, transpileModule } from 'typescript'

/** A source module without types, which another process can load. */
export function transpile(source: string): string {
  const compilerOptions = { target: ScriptTarget.ES2022, module: ModuleKind.ESNext, verbatimModuleSyntax: true }
  return transpileModule(source, { compilerOptions }).outputText
}
