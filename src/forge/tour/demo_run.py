"""Run the demo from its first part to its last."""

from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from forge.accounts.models import LoginLink
from forge.config import ClientSettings
from forge.demo.model_script import find_script, load_script
from forge.demo.model_server import ModelServer, open_model_server
from forge.llm.demo_model import REF, assign_demo_model
from forge.terminal.client import connect
from forge.tour.demo_context import DemoContext, Narrator, part
from forge.tour.demo_directory import DemoDirectory, open_demo_directory
from forge.tour.parts.agent import run_agent
from forge.tour.parts.bot import chat, create_bot
from forge.tour.parts.repository import audit_repository
from forge.tour.parts.skill import create_skill
from forge.tour.parts.workflow import kill_and_resume, run_to_approval
from forge.tour.server_process import Interrupts, open_server_process

PARTS = 8
OPENING = (
    "A tour of Forge. The model's answers come from a script; everything else is real: the server and its",
    "engine, WebAssembly, the sandbox, git, the files on your disk. Nothing leaves this machine.",
)


def run_demo(directory: Path | None, *, port: int, keep: bool | None, keep_running: bool) -> None:
    """Run the demo. By default, a temporary directory is removed at the end and a given one is kept."""
    interrupts, narrator = Interrupts(), Narrator(PARTS)
    is_kept = directory is not None if keep is None else keep
    with interrupts.caught(), open_demo_directory(directory, is_kept=is_kept) as folder, ExitStack() as stack:
        narrator.begin(*OPENING)
        with interrupts.held():  # an interrupt here would leave the thread of the server running
            models = stack.enter_context(_models(folder))
        with open_server_process(folder, port, interrupts) as server:
            with part(narrator, folder, "Start Forge in a separate directory"):
                narrator.line("directory", str(folder.path))
                with narrator.timed("Starting", lambda took: f"Forge started in {took:.1f} s."):
                    server.start()
            # Ignores the settings of the user's own Forge.
            settings = ClientSettings(url=None, api_key=None, data_dir=folder.data)
            with connect(settings) as client:
                context = DemoContext(client, server, models, folder, narrator)
                _run_parts(context)
                _print_summary(context)
                if keep_running:
                    _keep_running(context)
                else:
                    narrator.end("Stopping the server (--exit).")
            if is_kept:
                narrator.end(f"The data is kept. To open it again: forge serve --data-dir {folder.data}")


def _models(folder: DemoDirectory) -> AbstractContextManager[ModelServer]:
    return open_model_server(load_script(find_script("demo")), log=folder.model_requests)


def _run_parts(context: DemoContext) -> None:
    with context.part("Set up a free model"):
        with context.narrator.waiting("Testing the model"):
            roles, _ = assign_demo_model(context.client, context.models.url)
        context.narrator.done(f"{REF} at {context.models.url} is used for all {len(roles)} roles.")
    with context.part("Create a bot in an interview"):
        bot = create_bot(context)
        chat(context, bot)
    with context.part("Create a skill and grant it a capability"):
        create_skill(context, bot)
    with context.part("Audit a git repository"):
        audit_repository(context)
    with context.part("Let an agent fix code in the sandbox"):
        run_agent(context)
    with context.part("Run a workflow of all of these up to an approval"):
        run = run_to_approval(context, bot)
    with context.part("kill -9 and resume"):
        kill_and_resume(context, run)


def _print_summary(context: DemoContext) -> None:
    url = context.client.location.url
    context.narrator.end("The demo is complete. It created:")
    pages = [(name, f"{url}{page}") for name, page in context.links]
    context.narrator.links([*pages, ("Requests to the model", str(context.folder.model_requests))])


def _keep_running(context: DemoContext) -> None:
    """Keep the server running until Ctrl-C."""
    link = context.client.post("/login-links", LoginLink)
    context.narrator.end("To explore it, sign in with this one-time link:")
    context.narrator.links([("Sign in", link.url)])
    context.narrator.end("The server runs until you press Ctrl-C.")
    try:
        context.server.wait()
    except KeyboardInterrupt:
        context.narrator.end("Stopping.")
