import { ModuleKind, ScriptTarget, transpileModule } from 'typescript'

/** A module of the sources as a process of its own can load it, its types left out. */
export function transpile(source: string): string {
  const compilerOptions = { target: ScriptTarget.ES2022, module: ModuleKind.ESNext, verbatimModuleSyntax: true }
  return transpileModule(source, { compilerOptions }).outputText
}
