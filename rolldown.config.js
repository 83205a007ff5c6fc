import { defineConfig } from 'rolldown'

/**
 * Each program as a few files: to load a module for each source took half of a start. Packages stay what npm installs, so that
 * an advisory about one of them can be followed by an update. `folder`: the one in dist that gets the parts that programs share.
 */
export const programs = (folder, names) =>
  defineConfig({
    input: Object.fromEntries(names.map((name) => [name, `${name}.ts`])),
    external: (id) => !/^[./]/.test(id),
    platform: 'node',
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    output: {
      dir: 'dist',
      format: 'esm',
      sourcemap: true,
      entryFileNames: '[name].js',
      chunkFileNames: `${folder}/[name].js`,
    },
  })

export default programs('src', ['src/main'])
