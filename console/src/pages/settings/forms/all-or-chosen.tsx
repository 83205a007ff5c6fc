import { Checkbox, Fieldset, Input, Radio, SimpleGrid, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { hiddenLabel } from '../../../shared/hidden-label.js'

/** One of the two options. */
interface Way {
  label: string
  description?: string
}

interface AllOrChosenProps {
  label: string
  error: ReactNode
  all: Way
  chosen: Way
  isAll: boolean
  onAll: (isAll: boolean) => void
  /** The options, by group. */
  groups: { legend: string; options: { value: string; description: string }[] }[]
  /** The selected options. */
  value: string[]
  onChange: (value: string[]) => void
}

/** Selects everything, or some options. */
export function AllOrChosen(props: AllOrChosenProps) {
  const { label, error, all, chosen, isAll, onAll, groups, value, onChange } = props
  return (
    <Input.Wrapper label={label} error={error} labelElement="div">
      <Stack gap="sm" mt={4}>
        <Radio.Group {...hiddenLabel(label)} value={isAll ? 'all' : 'chosen'} onChange={(way) => onAll(way === 'all')}>
          <Stack gap="xs">
            <Radio value="all" {...all} />
            <Radio value="chosen" {...chosen} />
          </Stack>
        </Radio.Group>
        {!isAll && (
          <Checkbox.Group {...hiddenLabel(label)} value={value} onChange={onChange}>
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
              {groups.map(({ legend, options }) => (
                <Fieldset key={legend} legend={legend} p="sm">
                  <Stack gap="sm">
                    {options.map((option) => (
                      <Checkbox key={option.value} label={option.value} {...option} />
                    ))}
                  </Stack>
                </Fieldset>
              ))}
            </SimpleGrid>
          </Checkbox.Group>
        )}
      </Stack>
    </Input.Wrapper>
  )
}
