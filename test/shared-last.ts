import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Test files that share their processes last, and side by side: a process that goes on to a file of another kind ends. */
export class SharedLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isShared = ({ project }: TestSpecification) => !project.config.isolate;
    return [...sorted.filter((file) => !isShared(file)), ...sorted.filter(isShared)];
  }
}
