#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipe point-maze as one writes it in NumPy and PyTorch: the peer of its speed, and of what it learns.

  residua-cli new maze --recipe point-maze && peer_crl.py maze/project.json

Reads sizes and settings from the project, whose topology must be plain and whose rate must fall as a cosine. Prints the
time at goal at each validation, and at the end the speed of training and of acting in the form of bench_training (see
its --help).
"""
import argparse
import json
import statistics
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

MAZE = ("11111111", "1rg11gg1", "1gg1ggg1", "11ggg111", "1gg1ggg1", "1g1gg1g1", "1ggg1gg1", "11111111")
CELL, RADIUS, FEATURES, ACTIONS, STATES = 4.0, 0.5, 64, 2, 4


class Maze:
    """`count` points, each with a goal."""

    walls = np.array([[cell == "1" for cell in row] for row in MAZE])
    start = CELL * np.argwhere([[cell == "r" for cell in row] for row in MAZE])[0, ::-1]
    goals = CELL * np.argwhere([[cell == "g" for cell in row] for row in MAZE])[:, ::-1]

    def __init__(self, count, random):
        self.count, self.random = count, random
        self.begin()

    def begin(self):
        self.place = self.start + self.random.uniform(-0.5, 0.5, (self.count, 2))
        self.speed = np.zeros((self.count, 2))
        self.goal = self.goals[self.random.integers(len(self.goals), size=self.count)]

    def states(self):
        return np.concatenate((self.place, self.speed), 1, dtype=np.float32)

    def step(self, actions):
        self.speed = 0.8 * self.speed + np.clip(actions, -1, 1)
        for axis in range(2):
            there = self.place.copy()
            there[:, axis] += 0.1 * self.speed[:, axis]
            cells = np.floor(there / CELL + 0.5).astype(int)
            stopped = self.walls[cells[:, 1], cells[:, 0]]
            self.speed[stopped, axis] = 0
            self.place = np.where(stopped[:, None], self.place, there)
        return np.hypot(*(self.place - self.goal).T) < RADIUS


class Replay:
    """The newest steps of environments whose episodes begin together."""

    def __init__(self, data, random):
        shape = data["environments"], data["replay"]
        self.data, self.random, self.added = data, random, 0
        self.states = np.zeros((*shape, STATES), np.float32)
        self.actions = np.zeros((*shape, ACTIONS), np.float32)

    def add(self, states, actions):
        at = self.added % self.data["replay"]
        self.states[:, at], self.actions[:, at] = states, actions
        self.added += 1

    def draw(self, count):
        oldest = max(0, self.added - self.data["replay"])
        environments = self.random.integers(self.data["environments"], size=count)
        steps = self.random.integers(oldest, self.added - 1, count)
        length = self.data["episode"]
        after = np.minimum((steps // length + 1) * length, self.added) - 1 - steps
        steps, after = np.where(after == 0, steps - 1, steps), np.maximum(after, 1)  # the last has no later one
        discount = self.data["discount"]
        whole = 1 - discount**after
        later = 1 + np.floor(np.log1p(-self.random.random(count) * whole) / np.log(discount)).astype(int)
        now, then = steps % self.data["replay"], (steps + np.clip(later, 1, after)) % self.data["replay"]
        fields = self.states[environments, now], self.actions[environments, now], self.states[environments, then, :2]
        return [torch.from_numpy(field) for field in fields]


class Layer(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.linear, self.norm = linear(inputs, width), nn.LayerNorm(width, 1e-6)

    def forward(self, x):
        return F.silu(self.norm(self.linear(x)))


def linear(inputs, outputs):
    layer = nn.Linear(inputs, outputs)
    nn.init.uniform_(layer.weight, -(inputs**-0.5), inputs**-0.5)  # variance 1 / (3 · inputs)
    nn.init.zeros_(layer.bias)
    return layer


class Tower(nn.Module):
    def __init__(self, inputs, outputs, width, blocks):
        super().__init__()
        self.stem = Layer(inputs, width)
        self.blocks = nn.ModuleList(nn.Sequential(*(Layer(width, width) for _ in range(4))) for _ in range(blocks))
        self.head = linear(width, outputs)

    def forward(self, *inputs):
        x = self.stem(torch.cat(inputs, -1) if len(inputs) > 1 else inputs[0])
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


class Learner:
    def __init__(self, width, blocks, rate):
        self.actor = Tower(STATES + 2, 2 * ACTIONS, width, blocks)
        self.steps, self.goals = Tower(STATES + ACTIONS, FEATURES, width, blocks), Tower(2, FEATURES, width, blocks)
        self.log_alpha = nn.Parameter(torch.zeros(()))
        self.critic = [*self.steps.parameters(), *self.goals.parameters()]
        self.acting = [*self.actor.parameters()]
        self.optimiser = torch.optim.Adam(self.critic + self.acting + [self.log_alpha], rate, fused=True)

    def act(self, states, goals, noisy):
        with torch.no_grad():
            mean, spread = self.actor(torch.from_numpy(states), torch.from_numpy(goals)).chunk(2, -1)
            drawn = mean + (-5 + 3.5 * (spread.tanh() + 1)).exp() * torch.randn_like(mean) if noisy else mean
            return drawn.tanh().numpy()

    def learn(self, states, actions, goals):
        chosen = self.goals(goals)
        logits = -torch.cdist(self.steps(states, actions), chosen)
        whole = logits.logsumexp(1)
        contrast = (whole - logits.diagonal() + 0.1 * whole.square()).mean()
        mean, spread = self.actor(states, goals).chunk(2, -1)
        deviation = -5 + 3.5 * (spread.tanh() + 1)
        noise = torch.randn_like(mean)
        action = (mean + deviation.exp() * noise).tanh()
        density = (-0.5 * noise.square() - 0.9189385332046727 - deviation - (1 - action.square() + 1e-6).log()).sum(-1)
        distance = (self.steps(states, action) - chosen.detach()).norm(dim=-1)
        act = (self.log_alpha.exp().detach() * density + distance).mean()
        entropy = (self.log_alpha.exp() * (0.5 * ACTIONS - density.detach())).mean()
        for parameters, loss in ((self.critic, contrast), (self.acting, act), ([self.log_alpha], entropy)):
            for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters)):
                parameter.grad = gradient
        self.optimiser.step()
        return contrast.detach()


def judged(learner, data):
    maze = Maze(data["judged"], np.random.default_rng(0))
    at = [maze.step(learner.act(maze.states(), maze.goal.astype(np.float32), False)) for _ in range(data["episode"])]
    return np.sum(at) / data["judged"], np.any(at, 0).mean()


class Run:
    def __init__(self, project, seed):
        self.data, plan, network = project["data"]["source"], project["training"], project["network"]
        random = np.random.default_rng(seed)
        blocks = sum(each["repeat"] for each in network["stack"])
        rate = plan["learning_rate"]
        self.learner = Learner(network["width"], blocks, rate["peak"])
        self.rates = torch.optim.lr_scheduler.CosineAnnealingLR(
            self.learner.optimiser, plan["steps"], rate["peak"] * rate["final_fraction"])
        self.maze, self.replay = Maze(self.data["environments"], random), Replay(self.data, random)

    def act_before(self, step):
        while self.replay.added < self.data["prefill"] + self.data["unroll"] * (1 + step // self.data["updates"]):
            states = self.maze.states()
            actions = self.learner.act(states, self.maze.goal.astype(np.float32), True)
            self.maze.step(actions)
            self.replay.add(states, actions)
            if self.replay.added % self.data["episode"] == 0:
                self.maze.begin()

    def environment_steps(self):
        return self.replay.added * self.data["environments"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project")
    parser.add_argument("--steps", type=int, help="gradient steps after those of --warmup; default the project's")
    parser.add_argument("--warmup", type=int, default=2, help="steps that the speeds leave out")
    parser.add_argument("--batch", type=int, help="default the project's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    for name, only in (("--topology", "plain"), ("--modes", "eager"), ("--shape", "point-maze")):
        parser.add_argument(name, choices=(only,), default=only)
    options = parser.parse_args()
    with open(options.project, encoding="utf-8") as file:
        project = json.load(file)
    plan = project["training"]
    batch = options.batch or plan["batch"]
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    run = Run(project, options.seed)
    acting, training, processor = 0.0, [], 0.0
    for step in range(options.warmup + (options.steps or plan["steps"])):
        if step == options.warmup:
            acted, processor = run.environment_steps(), time.process_time()
        begin = time.perf_counter()
        run.act_before(step)
        between = time.perf_counter()
        loss = run.learner.learn(*run.replay.draw(batch))
        run.rates.step()
        if step >= options.warmup:
            acting += between - begin
            training.append(time.perf_counter() - between)
        if (step + 1) % plan["validate_every"] == 0:
            begin = time.process_time()
            steps, reached = judged(run.learner, run.data)
            processor += time.process_time() - begin
            print(f"step {step + 1:,}  environment steps {run.environment_steps():,}  loss {loss:.4f}  "
                  f"α {run.learner.log_alpha.exp():.4f}  at goal {steps:.1f}/{run.data['episode']}  "
                  f"reached {reached:.2f}  {sum(training) + acting:.0f} s", flush=True)
    processor = time.process_time() - processor
    median, whole = statistics.median_high(training), sum(training) + acting
    print(f"pytorch-eager plain: {batch / median:.0f} tokens/s, {1e3 * median:.2f} ms a step (median of {len(training)}; "
          f"best {1e3 * min(training):.2f}), {batch * len(training) / processor:.0f} per processor second, "
          f"{(run.environment_steps() - acted) / max(acting, 1e-9):.0f} environment steps/s, "
          f"which take {100 * acting / whole:.1f} % of the time, loss {loss:.4f}; point-maze, {batch} tokens")


if __name__ == "__main__":
    main()
