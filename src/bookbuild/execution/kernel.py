"""A kernel that is forked instead of started, with everything that its parent has loaded."""

import json
import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import psutil
from ipykernel import kernelapp
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

BOOK = __name__.partition(".")[0]


class Forked(psutil.Process):
    """A kernel that waits for its command; to Jupyter it is a `subprocess.Popen` without pipes."""

    stdin = stdout = stderr = None

    def __init__(self) -> None:
        heard, self._told = os.pipe()
        number = os.fork()
        if not number:
            os.close(self._told)
            _become_a_kernel(heard)
        os.close(heard)
        super().__init__(number)

    def launch(self, command: Sequence[str], environment: dict[str, str], folder: str) -> None:
        """Have the kernel begin, with the arguments of a command."""
        with os.fdopen(self._told, "w", encoding="utf-8") as stream:
            json.dump([command, environment, folder], stream)

    def poll(self) -> int | None:
        """Return the code with which the kernel ended, or None while it runs."""
        try:
            return self.wait(0)
        except psutil.TimeoutExpired:
            return None


def _become_a_kernel(heard: int) -> None:
    """Wait for the command of a kernel, and run that kernel until this process ends."""
    os.setsid()  # Jupyter signals a kernel and what it started as one group
    with os.fdopen(heard, encoding="utf-8") as stream:
        told = stream.read()
    if not told:  # no kernel was asked for
        sys.exit()
    arguments, environment, folder = json.loads(told)
    # A kernel ends with its parent, which Jupyter looks up in an environment that was another.
    sys.argv = [*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"]
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if not sys.flags.safe_path:
        del sys.path[0]  # where the build was started; Jupyter puts the kernel's folder there
    for name in [name for name in sys.modules if name.partition(".")[0] == BOOK]:
        del sys.modules[name]  # loaded again, so that its clocks start with the kernel
    kernelapp.launch_new_instance()
    sys.exit()


class Provisioner(LocalProvisioner):
    """Jupyter asks this for a kernel: it hands out the forked one, of this very Python."""

    waiting: ClassVar[Forked | None] = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Hand out the forked kernel, or start one."""
        kernel, Provisioner.waiting = Provisioner.waiting, None
        if kernel is None:
            return await super().launch_kernel(cmd, **kwargs)
        kernel.launch(cmd[2:], kwargs["env"], kwargs.get("cwd") or os.getcwd())
        self.process, self.pid, self.pgid = kernel, kernel.pid, kernel.pid
        return self.connection_info


def fork() -> None:
    """Fork the first kernel that Jupyter will be asked for; there must be no threads yet."""
    Provisioner.waiting = Forked()
    factory = KernelProvisionerFactory.instance()
    name = factory.default_provisioner_name
    factory.provisioners[name] = EntryPoint(
        name, f"{__name__}:{Provisioner.__name__}", factory.GROUP_NAME
    )
